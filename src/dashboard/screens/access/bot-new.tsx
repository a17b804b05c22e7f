import { useLocation } from 'preact-iso/router';
import { addressOf } from '../../data/addresses.ts';
import { useAction } from '../../data/use-action.ts';
import { useFields } from '../../data/use-fields.ts';
import { CreateBotUser } from '../../generated/operations.ts';
import { all, atMost, needed } from '../../ui/checks.ts';
import { CheckField } from '../../ui/choice-fields.tsx';
import { Form } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { botCrumbs, lists } from './places.ts';

const NAME_MAX_BYTES = 255;

export const botName = all(needed('A name'), atMost(NAME_MAX_BYTES));

export function NewBotUser() {
  const { route } = useLocation();
  const { bind, values } = useFields({ name: '', active: true });
  const create = useAction(CreateBotUser);

  async function submit() {
    const { id } = (await create.act({ input: values }))?.createBotUser ?? {};
    if (id) route(addressOf('botUser', id), true);
  }

  return (
    <Page title="New bot user" crumbs={botCrumbs}>
      <Form
        action="Create the bot user"
        onSubmit={() => void submit()}
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(lists.bots)}
      >
        <TextField {...bind('name')} label="Name" help="No other bot user may have it." check={botName} />
        <CheckField
          {...bind('active')}
          label="Active"
          help="As long as it is not, its API keys and credentials are refused."
        />
      </Form>
    </Page>
  );
}

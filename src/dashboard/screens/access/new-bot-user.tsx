import { useLocation } from 'preact-iso/router';
import { useAction } from '../../data/hooks/use-mutation.ts';
import { addressOf } from '../../data/routing/paths.ts';
import { CreateBotUser } from '../../generated/operations.ts';
import { CheckField } from '../../ui/forms/choice-fields.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFields } from '../../ui/forms/use-form-fields.ts';
import { all, atMost, needed } from '../../ui/forms/validators.ts';
import { Page } from '../../ui/layout/page.tsx';
import { botCrumbs, lists } from './navigation.ts';

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

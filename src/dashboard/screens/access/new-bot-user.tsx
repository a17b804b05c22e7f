import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { CreateBotUser } from '../../generated/operations.ts';
import { CheckField } from '../../ui/forms/choice-fields.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { allOf, maxBytes, required } from '../../ui/forms/validators.ts';
import { Page } from '../../ui/layout/page.tsx';
import { botCrumbs, listPaths } from './navigation.ts';

const NAME_MAX_BYTES = 255;

export const validateBotName = allOf(required('A name'), maxBytes(NAME_MAX_BYTES));

export function NewBotUser() {
  const { route } = useLocation();
  const fields = useFormFields({ name: '', active: true }, { draft: 'new bot user' });
  const { bind, values } = fields;
  const create = useMutation(CreateBotUser);

  async function submit() {
    const { id } = (await create.mutate({ input: values }))?.createBotUser?.botUser ?? {};
    if (!id) return;
    fields.saved();
    route(objectPath('botUser', id), true);
  }

  return (
    <Page title="New bot user" crumbs={botCrumbs}>
      <Form
        submitLabel="Create the bot user"
        fields={fields}
        onSubmit={() => void submit()}
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(listPaths.bots)}
      >
        <TextField {...bind('name')} label="Name" help="No other bot user may have it." validate={validateBotName} />
        <CheckField
          {...bind('active')}
          label="Active"
          help="As long as it is not, its API keys and credentials are refused."
        />
      </Form>
    </Page>
  );
}

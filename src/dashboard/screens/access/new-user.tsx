import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { CreateUser } from '../../generated/operations.ts';
import { SelectField } from '../../ui/forms/choice-fields.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { allOf, maxBytes, required } from '../../ui/forms/validators.ts';
import { Page } from '../../ui/layout/page.tsx';
import { listPaths, userCrumbs } from './navigation.ts';
import { type Role, roles } from './roles.ts';

const EMAIL_MAX_BYTES = 254;

export function NewUser() {
  const { route } = useLocation();
  const fields = useFormFields({ email: '', role: 'MEMBER' as Role }, { draft: 'new user' });
  const { bind, values } = fields;
  const create = useMutation(CreateUser);

  async function submit() {
    const { id } = (await create.mutate({ input: { ...values, email: values.email.trim() } }))?.createUser?.user ?? {};
    if (!id) return;
    fields.saved();
    route(objectPath('user', id), true);
  }

  return (
    <Page title="New user" crumbs={userCrumbs}>
      <Form
        submitLabel="Add the user"
        fields={fields}
        onSubmit={() => void submit()}
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(listPaths.users)}
      >
        <TextField
          {...bind('email')}
          type="email"
          label="E-mail"
          help="It is what the user signs in with. Nothing is sent to it: you make a sign-in link on the next page."
          validate={allOf(required('An e-mail address'), maxBytes(EMAIL_MAX_BYTES), validateEmail)}
        />
        <SelectField
          {...bind('role')}
          onChange={(role) => bind('role').onChange(role as Role)}
          label="Role"
          help="An admin may do everything. A member may do everything but change users, bot users and what others hold."
          options={roles}
        />
      </Form>
    </Page>
  );
}

function validateEmail(value: string): string | null {
  return /^[^\s@]+@[^\s@]+$/.test(value.trim()) ? null : 'This isn’t an e-mail address.';
}

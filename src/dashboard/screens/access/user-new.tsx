import { useLocation } from 'preact-iso/router';
import { addressOf } from '../../data/addresses.ts';
import { useAction } from '../../data/use-action.ts';
import { useFields } from '../../data/use-fields.ts';
import { CreateUser } from '../../generated/operations.ts';
import { all, atMost, needed } from '../../ui/checks.ts';
import { SelectField } from '../../ui/choice-fields.tsx';
import { Form } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { lists, userCrumbs } from './places.ts';
import { type Role, roles } from './roles.ts';

const EMAIL_MAX_BYTES = 254;

export function NewUser() {
  const { route } = useLocation();
  const { bind, values } = useFields({ email: '', role: 'member' as Role });
  const create = useAction(CreateUser);

  async function submit() {
    const { id } = (await create.act({ input: { ...values, email: values.email.trim() } }))?.createUser ?? {};
    if (id) route(addressOf('user', id), true);
  }

  return (
    <Page title="New user" crumbs={userCrumbs}>
      <Form
        action="Add the user"
        onSubmit={() => void submit()}
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(lists.users)}
      >
        <TextField
          {...bind('email')}
          type="email"
          label="E-mail"
          help="It is what the user signs in with. Nothing is sent to it: you make a sign-in link on the next page."
          check={all(needed('An e-mail address'), atMost(EMAIL_MAX_BYTES), address)}
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

function address(value: string): string | null {
  return /^[^\s@]+@[^\s@]+$/.test(value.trim()) ? null : 'This isn’t an e-mail address.';
}

import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { startSession } from '../../data/session/session.ts';
import { ChangePassword } from '../../generated/operations.ts';
import { toast } from '../../ui/feedback/toast.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { Section } from '../../ui/layout/page.tsx';
import { validatePassword } from '../sign-in/validate-password.ts';
import { OwnPasswordField } from './own-password-field.tsx';

/** Changes the viewer's own password. */
export function Password() {
  // A new key unmounts the form, which drops what was typed.
  const [form, setForm] = useState(0);
  return (
    <Section title="Password" lead="Changing it signs out every other browser of yours.">
      <PasswordForm key={form} onChanged={() => setForm(form + 1)} />
    </Section>
  );
}

function PasswordForm({ onChanged }: { onChanged: () => void }) {
  const fields = useFormFields({ current: '', password: '', repeated: '' });
  const change = useMutation(ChangePassword);
  const { current, password } = fields.values;

  async function submit() {
    const result = await change.mutate({ input: { current, password } });
    if (!result?.changePassword?.viewer) return;
    fields.saved();
    startSession(result.changePassword.viewer);
    onChanged();
    toast('Your password is changed.');
  }

  return (
    <Form
      submitLabel="Change the password"
      fields={fields}
      onSubmit={() => void submit()}
      error={change.error}
      isBusy={change.isBusy}
    >
      <OwnPasswordField {...fields.bind('current')} label="Current password" />
      <TextField
        {...fields.bind('password')}
        label="New password"
        type="password"
        autoComplete="new-password"
        help="At least 12 characters; a sentence is fine."
        validate={validatePassword}
      />
      <TextField
        {...fields.bind('repeated')}
        label="The same new password again"
        type="password"
        autoComplete="new-password"
        validate={(again) => (again === password ? null : 'This isn’t the same as above.')}
      />
    </Form>
  );
}

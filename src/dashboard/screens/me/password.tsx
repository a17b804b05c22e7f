import { useState } from 'preact/hooks';
import { useAction } from '../../data/hooks/use-mutation.ts';
import { begin, nameOf, viewer } from '../../data/session/session.ts';
import { ChangePassword } from '../../generated/operations.ts';
import { toast } from '../../ui/feedback/toast.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFields } from '../../ui/forms/use-form-fields.ts';
import { needed } from '../../ui/forms/validators.ts';
import { Section } from '../../ui/layout/page.tsx';
import { newPassword } from '../sign-in/validate-password.ts';

/** Changes the viewer's own password. */
export function Password() {
  // What was typed is forgotten with the form that held it.
  const [form, setForm] = useState(0);
  return (
    <Section title="Password" lead="Changing it signs out every other browser of yours.">
      <PasswordForm key={form} onChanged={() => setForm(form + 1)} />
    </Section>
  );
}

function PasswordForm({ onChanged }: { onChanged: () => void }) {
  const fields = useFields({ current: '', password: '', again: '' });
  const change = useAction(ChangePassword);
  const { current, password } = fields.values;

  async function submit() {
    const result = await change.act({ input: { current, password } });
    if (!result?.changePassword) return;
    begin(result.changePassword);
    onChanged();
    toast('Your password is changed.');
  }

  return (
    <Form action="Change the password" onSubmit={() => void submit()} error={change.error} isBusy={change.isBusy}>
      {/* A password keeper needs to see whose password it is. */}
      <input
        class="unseen"
        type="text"
        autoComplete="username"
        readOnly
        tabIndex={-1}
        aria-hidden="true"
        value={who()}
      />
      <TextField
        {...fields.bind('current')}
        label="Current password"
        type="password"
        autoComplete="current-password"
        check={needed('Your current password')}
      />
      <TextField
        {...fields.bind('password')}
        label="New password"
        type="password"
        autoComplete="new-password"
        help="At least 12 characters; a sentence is fine."
        check={newPassword}
      />
      <TextField
        {...fields.bind('again')}
        label="The same new password again"
        type="password"
        autoComplete="new-password"
        check={(again) => (again === password ? null : 'This isn’t the same as above.')}
      />
    </Form>
  );
}

function who(): string {
  return viewer.value ? nameOf(viewer.value) : '';
}

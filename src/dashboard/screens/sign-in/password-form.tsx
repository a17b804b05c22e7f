import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { startSession } from '../../data/session/session.ts';
import { SignIn } from '../../generated/operations.ts';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { required } from '../../ui/forms/validators.ts';
import { CodeField, isAboutCode } from './code-field.tsx';

/** Signs in with e-mail address and password, and a code where the user has a second factor. */
export function SignInPasswordForm() {
  const fields = useFormFields({ email: '', password: '', code: '' });
  const signIn = useMutation(SignIn);
  const [needsCode, setNeedsCode] = useState(false);
  if (isAboutCode(signIn.error) && !needsCode) setNeedsCode(true);

  async function submit() {
    const result = await signIn.mutate({ input: { ...fields.values, email: fields.values.email.trim() } });
    if (result?.signIn?.viewer) startSession(result.signIn.viewer);
  }

  return (
    <>
      <Form submitLabel="Sign in" onSubmit={() => void submit()} error={signIn.error} isBusy={signIn.isBusy}>
        <TextField
          {...fields.bind('email')}
          label="E-mail address"
          type="email"
          autoComplete="username"
          validate={required('Your e-mail address')}
        />
        <TextField
          {...fields.bind('password')}
          label="Password"
          type="password"
          autoComplete="current-password"
          validate={required('Your password')}
        />
        {needsCode && <CodeField {...fields.bind('code')} />}
      </Form>
      <p class="muted">
        Forgotten it? An admin can make you a one-time link, under Access. The only admin runs{' '}
        <code>npm run sign-in-link</code> on the gateway’s machine.
      </p>
    </>
  );
}

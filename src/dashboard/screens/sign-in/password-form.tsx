import { useMutation } from '../../data/hooks/use-mutation.ts';
import { startSession } from '../../data/session/session.ts';
import { SignIn } from '../../generated/operations.ts';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { required } from '../../ui/forms/validators.ts';

/** Signs in with e-mail address and password. */
export function SignInPasswordForm() {
  const fields = useFormFields({ email: '', password: '' });
  const signIn = useMutation(SignIn);

  async function submit() {
    const result = await signIn.mutate({ input: { ...fields.values, email: fields.values.email.trim() } });
    if (result?.signIn) startSession(result.signIn);
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
      </Form>
      <p class="muted">
        Forgotten it? An admin can make you a one-time link, under Access. The only admin runs{' '}
        <code>npm run sign-in-link</code> on the gateway’s machine.
      </p>
    </>
  );
}

import { useAction } from '../../data/hooks/use-mutation.ts';
import { begin } from '../../data/session/session.ts';
import { SignIn } from '../../generated/operations.ts';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFields } from '../../ui/forms/use-form-fields.ts';
import { needed } from '../../ui/forms/validators.ts';

/** Signs in with e-mail address and password. */
export function ByPassword() {
  const fields = useFields({ email: '', password: '' });
  const signIn = useAction(SignIn);

  async function submit() {
    const result = await signIn.act({ input: { ...fields.values, email: fields.values.email.trim() } });
    if (result?.signIn) begin(result.signIn);
  }

  return (
    <>
      <h1>Sign in</h1>
      <Form action="Sign in" onSubmit={() => void submit()} error={signIn.error} isBusy={signIn.isBusy}>
        <TextField
          {...fields.bind('email')}
          label="E-mail address"
          type="email"
          autoComplete="username"
          check={needed('Your e-mail address')}
        />
        <TextField
          {...fields.bind('password')}
          label="Password"
          type="password"
          autoComplete="current-password"
          check={needed('Your password')}
        />
      </Form>
      <p class="quiet">Forgotten it? An admin can make you a one-time link, under Access.</p>
    </>
  );
}

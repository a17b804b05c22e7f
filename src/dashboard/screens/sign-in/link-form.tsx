import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { startSession } from '../../data/session/session.ts';
import { signInToken } from '../../data/session/sign-in-token.ts';
import { RedeemSignInLink } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { validatePassword } from './validate-password.ts';

/** Redeems a one-time link: sets a password and signs in. */
export function SignInLinkForm({ token }: { token: string }) {
  const fields = useFormFields({ password: '', repeated: '' });
  const redeem = useMutation(RedeemSignInLink);
  const [isUsedUp, setUsedUp] = useState(false);
  const { password } = fields.values;

  async function submit() {
    const result = await redeem.mutate({ input: { token, password } });
    if (!result?.redeemSignInLink) {
      setUsedUp(true);
      return;
    }
    startSession(result.redeemSignInLink);
    signInToken.value = null;
  }

  return (
    <>
      <h1>Set your password</h1>
      <p>This one-time link signs you in. From then on you sign in with your e-mail address and this password.</p>
      <Form
        submitLabel="Set the password and sign in"
        onSubmit={() => void submit()}
        error={redeem.error}
        isBusy={redeem.isBusy}
      >
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
          label="The same password again"
          type="password"
          autoComplete="new-password"
          validate={(repeated) => (repeated === password ? null : 'This isn’t the same as above.')}
        />
      </Form>
      {isUsedUp && (
        <Button
          variant="plain"
          onClick={() => {
            signInToken.value = null;
          }}
        >
          Sign in with a password instead
        </Button>
      )}
    </>
  );
}

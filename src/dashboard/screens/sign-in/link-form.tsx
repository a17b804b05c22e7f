import { useState } from 'preact/hooks';
import { useAction } from '../../data/hooks/use-mutation.ts';
import { begin } from '../../data/session/session.ts';
import { signInToken } from '../../data/session/sign-in-token.ts';
import { RedeemSignInLink } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFields } from '../../ui/forms/use-form-fields.ts';
import { newPassword } from './validate-password.ts';

/** Redeems a one-time link: sets a password and signs in. */
export function ByLink({ token }: { token: string }) {
  const fields = useFields({ password: '', again: '' });
  const redeem = useAction(RedeemSignInLink);
  const [isUsedUp, setUsedUp] = useState(false);
  const { password } = fields.values;

  async function submit() {
    const result = await redeem.act({ input: { token, password } });
    if (!result?.redeemSignInLink) {
      setUsedUp(true);
      return;
    }
    begin(result.redeemSignInLink);
    signInToken.value = null;
  }

  return (
    <>
      <h1>Set your password</h1>
      <p>This one-time link signs you in. From then on you sign in with your e-mail address and this password.</p>
      <Form
        action="Set the password and sign in"
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
          check={newPassword}
        />
        <TextField
          {...fields.bind('again')}
          label="The same password again"
          type="password"
          autoComplete="new-password"
          check={(again) => (again === password ? null : 'This isn’t the same as above.')}
        />
      </Form>
      {isUsedUp && (
        <Button
          look="plain"
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

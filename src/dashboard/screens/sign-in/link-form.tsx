import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { startSession } from '../../data/session/session.ts';
import { signInToken } from '../../data/session/sign-in-token.ts';
import { RedeemSignInLink, SignInLinkUser } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { UserName } from '../../ui/forms/user-name.tsx';
import { CodeField, isAboutCode } from './code-field.tsx';
import { validatePassword } from './validate-password.ts';

/** Redeems a one-time link: sets a password and signs in. */
export function SignInLinkForm({ token }: { token: string }) {
  const { data, error, refetch } = useQuery(SignInLinkUser, { token });
  const user = data?.signInLinkUser;
  return (
    <>
      <h1>Set your password</h1>
      {error && <ErrorNote error={error} retry={refetch} />}
      {!data && !error && <Skeleton />}
      {user && <PasswordForm token={token} email={user.email} />}
      {data && !user && (
        <>
          <Note variant="warn">This link was used already, has expired, or a newer one was made.</Note>
          <SignInInstead />
        </>
      )}
    </>
  );
}

function PasswordForm({ token, email }: { token: string; email: string }) {
  const fields = useFormFields({ password: '', repeated: '', code: '' });
  const redeem = useMutation(RedeemSignInLink);
  const [needsCode, setNeedsCode] = useState(false);
  if (isAboutCode(redeem.error) && !needsCode) setNeedsCode(true);
  const { password, code } = fields.values;

  async function submit() {
    const result = await redeem.mutate({ input: { token, password, code } });
    if (!result?.redeemSignInLink?.viewer) return;
    startSession(result.redeemSignInLink.viewer);
    signInToken.value = null;
  }

  return (
    <>
      <p>
        This one-time link signs you in as <strong>{email}</strong>. From then on you sign in with that e-mail address
        and this password.
      </p>
      <Form
        submitLabel="Set the password and sign in"
        onSubmit={() => void submit()}
        error={redeem.error}
        isBusy={redeem.isBusy}
      >
        <UserName value={email} />
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
        {needsCode && <CodeField {...fields.bind('code')} />}
      </Form>
      {redeem.error && !isAboutCode(redeem.error) && <SignInInstead />}
    </>
  );
}

function SignInInstead() {
  return (
    <Button
      variant="plain"
      onClick={() => {
        signInToken.value = null;
      }}
    >
      Sign in with a password instead
    </Button>
  );
}

// The sign-in screen: by e-mail address and password, with a passkey, with the operator's provider, or by a one-time link, which sets a new password.

import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { signInToken } from '../../data/session/sign-in-token.ts';
import { singleSignOnAnswer } from '../../data/session/single-sign-on.ts';
import { SignInOffer } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { SignInLinkForm } from './link-form.tsx';
import { SignInPasskeyButton } from './passkey.tsx';
import { SignInPasswordForm } from './password-form.tsx';
import { SingleSignOnButton, SingleSignOnEnd } from './single-sign-on.tsx';

interface WaysProps {
  offer: { singleSignOn: string | null; isPasswordForAll: boolean; passkeyHost: string | null };
}

/** The ways to sign in that are open now. */
function Ways({ offer: { singleSignOn, isPasswordForAll, passkeyHost } }: WaysProps) {
  const [wantsPassword, setWantsPassword] = useState(false);
  if (signInToken.value !== null) return <SignInLinkForm token={signInToken.value} />;
  if (singleSignOn === null)
    return (
      <>
        <h1>Sign in</h1>
        <OwnWays passkeyHost={passkeyHost} />
      </>
    );
  return (
    <>
      <h1>Sign in</h1>
      {singleSignOnAnswer.value ? (
        <SingleSignOnEnd answer={singleSignOnAnswer.value} name={singleSignOn} />
      ) : (
        <SingleSignOnButton name={singleSignOn} />
      )}
      {isPasswordForAll || wantsPassword ? (
        <OwnWays passkeyHost={passkeyHost} />
      ) : (
        <Button variant="plain" onClick={() => setWantsPassword(true)}>
          Sign in with the emergency password
        </Button>
      )}
    </>
  );
}

/** The ways that need no provider. */
function OwnWays({ passkeyHost }: { passkeyHost: string | null }) {
  return (
    <>
      <SignInPasswordForm />
      <SignInPasskeyButton host={passkeyHost} />
    </>
  );
}

export function SignIn() {
  const { data, error, refetch } = useQuery(SignInOffer, {});
  const offer = data?.signInOffer;
  useEffect(() => {
    document.title = 'Sign in · Tunnel Gateway';
  }, []);
  return (
    <main class="standalone">
      <p class="brand">Tunnel Gateway</p>
      {error && <ErrorNote error={error} retry={refetch} />}
      {!offer && !error && <Skeleton />}
      {offer && !offer.isOffered && (
        <>
          <h1>Signing in isn’t offered here</h1>
          <Note variant="warn">{offer.reason}</Note>
        </>
      )}
      {offer?.isOffered && <Ways offer={offer} />}
      {offer?.isOffered && !offer.isSetUp && signInToken.value === null && (
        <Note>
          <p>No admin has set a password yet. The gateway printed a one-time link when it started, in a line like</p>
          <p>
            <code>Dashboard: {location.origin}/dashboard/sign-in#…</code>
          </p>
          <p>Start it again for a new one: a link holds for 15 minutes.</p>
        </Note>
      )}
    </main>
  );
}

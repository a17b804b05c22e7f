import { useState } from 'preact/hooks';
import { type ApiFailure, toApiFailure } from '../../data/client/client.ts';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { signWithPasskey, supportsPasskeys } from '../../data/session/passkeys.ts';
import { startSession } from '../../data/session/session.ts';
import { BeginPasskeySignIn, CompletePasskeySignIn } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';

/** Signs in with a passkey; nothing where there can be none. @param host the name that passkeys are for. */
export function SignInPasskeyButton({ host }: { host: string | null }) {
  const begin = useMutation(BeginPasskeySignIn);
  const complete = useMutation(CompletePasskeySignIn);
  const [refusal, setRefusal] = useState<ApiFailure>();
  const [isAsking, setAsking] = useState(false);
  if (!supportsPasskeys(host)) return null;

  async function signIn() {
    setRefusal(undefined);
    complete.reset();
    const options = (await begin.mutate({}))?.beginPasskeySignIn?.options;
    if (!options) return;
    setAsking(true);
    try {
      const result = await complete.mutate({ credential: await signWithPasskey(options) });
      if (result?.completePasskeySignIn?.viewer) startSession(result.completePasskeySignIn.viewer);
    } catch (error) {
      setRefusal(toApiFailure(error));
    } finally {
      setAsking(false);
    }
  }

  return (
    <>
      <Button onClick={() => void signIn()} isBusy={begin.isBusy || isAsking}>
        Sign in with a passkey
      </Button>
      <ErrorNote error={begin.error ?? refusal ?? complete.error} />
    </>
  );
}

// Signing in with the operator's provider: the button, and the end of the way back.

import { useEffect } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { startSession } from '../../data/session/session.ts';
import { goToProvider, type SingleSignOnAnswer, singleSignOnAnswer } from '../../data/session/single-sign-on.ts';
import { BeginSingleSignOn, CompleteSingleSignOn } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';

/** @param name what the provider is called. */
export function SingleSignOnButton({ name }: { name: string }) {
  const begin = useMutation(BeginSingleSignOn);

  async function go() {
    const begun = (await begin.mutate({}))?.beginSingleSignOn?.attempt;
    if (begun) goToProvider(begun.url, begun.attempt);
  }

  return (
    <>
      <Button variant="primary" onClick={() => void go()} isBusy={begin.isBusy}>
        Sign in with {name}
      </Button>
      {begin.error && <ErrorNote error={begin.error} />}
    </>
  );
}

/** Completes a sign-in, once. Its error stays until another one begins. */
export function SingleSignOnEnd({ answer, name }: { answer: SingleSignOnAnswer; name: string }) {
  const complete = useMutation(CompleteSingleSignOn);

  useEffect(() => {
    void complete.mutate({ input: { ...answer } }).then((result) => {
      if (!result?.completeSingleSignOn?.viewer) return;
      startSession(result.completeSingleSignOn.viewer);
      singleSignOnAnswer.value = null;
    });
    // An answer works once.
  }, [answer]);

  return complete.error ? (
    <>
      <ErrorNote error={complete.error} />
      <SingleSignOnButton name={name} />
    </>
  ) : (
    <Skeleton />
  );
}

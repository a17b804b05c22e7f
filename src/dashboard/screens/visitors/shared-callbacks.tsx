// What is to be registered at providers, as visitors come back by the address that all accounts shared before.

import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { EndSharedCallback, SharedCallbacks } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';

/** Shows nothing where there is nothing to register. */
export function SharedCallbackNotes() {
  const { data, refetch } = useQuery(SharedCallbacks, {});
  const [ending, setEnding] = useState<string>();
  const { mutate, error, isBusy } = useMutation(EndSharedCallback);

  async function confirmed(issuer: string) {
    if (!(await mutate({ issuer }))) return;
    setEnding(undefined);
    toast('Visitors come back by the address of your account from now on.');
    await refetch();
  }

  return (
    <>
      {data?.sharedSignInCallbacks.map(({ issuer, url, sharedUrl }) => (
        <Note key={issuer} variant="warn">
          <p>
            Visitors who sign in at {issuer} come back by <code>{sharedUrl}</code>, which all accounts share. The next
            release of the gateway does not answer it. At the provider, register{' '}
            <CopyButton text={url} label="the redirect URI" />
          </p>
          <Button onClick={() => setEnding(issuer)}>It is registered</Button>
        </Note>
      ))}
      {ending !== undefined && (
        <ConfirmDialog
          title="Use the new address?"
          confirmLabel="Use it"
          error={error}
          isBusy={isBusy}
          onConfirm={() => void confirmed(ending)}
          onClose={() => setEnding(undefined)}
        >
          <p>
            From now on, visitors who sign in at {ending} come back by the new address. Where the provider does not know
            it, nobody can sign in. This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

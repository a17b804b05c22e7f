import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { RemovePasskeys } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { Section } from '../../ui/layout/page.tsx';

interface UserPasskeysProps {
  userId: string;
  email: string;
  onRemoved: () => void;
}

/** The passkeys of another user, which an admin can remove. */
export function UserPasskeysSection({ userId, email, onRemoved }: UserPasskeysProps) {
  const remove = useMutation(RemovePasskeys);
  const [isConfirming, setConfirming] = useState(false);

  async function confirmed() {
    if (!(await remove.mutate({ userId }))) return;
    setConfirming(false);
    toast(`${email} has no passkeys any more.`);
    onRemoved();
  }

  return (
    <Section
      title="Passkeys"
      lead="A device signs the user in, without the password or a code."
      actions={<Button onClick={() => setConfirming(true)}>Remove all</Button>}
    >
      {isConfirming && (
        <ConfirmDialog
          title={`Remove all passkeys of ${email}?`}
          confirmLabel="Remove all"
          error={remove.error}
          isBusy={remove.isBusy}
          onConfirm={() => void confirmed()}
          onClose={() => setConfirming(false)}
        >
          <p>
            From then on the user signs in with the password, until the user adds a passkey again. Browsers that are
            signed in stay so until they are signed out.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

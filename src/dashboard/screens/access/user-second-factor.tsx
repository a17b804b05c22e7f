import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { RemoveSecondFactor } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { Section } from '../../ui/layout/page.tsx';

interface UserSecondFactorProps {
  userId: string;
  email: string;
  onRemoved: () => void;
}

/** The second factor of another user, which an admin can turn off. */
export function UserSecondFactorSection({ userId, email, onRemoved }: UserSecondFactorProps) {
  const remove = useMutation(RemoveSecondFactor);
  const [isConfirming, setConfirming] = useState(false);

  async function confirmed() {
    if (!(await remove.mutate({ userId }))) return;
    setConfirming(false);
    toast(`The second factor of ${email} is off.`);
    onRemoved();
  }

  return (
    <Section
      title="Second factor"
      lead="The user gives a code beside the password, and with a sign-in link."
      actions={<Button onClick={() => setConfirming(true)}>Turn it off</Button>}
    >
      {isConfirming && (
        <ConfirmDialog
          title={`Turn off the second factor of ${email}?`}
          confirmLabel="Turn it off"
          error={remove.error}
          isBusy={remove.isBusy}
          onConfirm={() => void confirmed()}
          onClose={() => setConfirming(false)}
        >
          <p>
            From then on the password alone signs the user in, until the user sets up an app again. Make sure that it is
            the user who has asked for this.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

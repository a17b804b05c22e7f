import { useId } from 'preact/hooks';
import { now } from '../../../data/clock.ts';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { type ProvisioningDetailsFragment, RetryCertificate } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';

interface RetryProps {
  domainId: string;
  certificate: ProvisioningDetailsFragment;
  /** Called after a change, because the change feed reports it with a delay. */
  onChanged: () => void;
}

/** Begins again from the look-up of the records, for a person who has changed what was wrong. */
export function Retry({ domainId, certificate: { blockedUntil }, onChanged }: RetryProps) {
  const retry = useMutation(RetryCertificate);
  const reasonId = useId();
  const isBlocked = blockedUntil !== null && Date.parse(blockedUntil) > now.value;
  async function tryAgain() {
    if (!(await retry.mutate({ id: domainId }))) return;
    toast('The certificate is tried again.');
    onChanged();
  }
  return (
    <>
      <ErrorNote error={retry.error} />
      <div class="actions retry">
        <Button
          isBusy={retry.isBusy}
          isDisabled={isBlocked}
          describedBy={isBlocked ? reasonId : undefined}
          onClick={() => void tryAgain()}
        >
          Try again now
        </Button>
        {isBlocked && (
          <span id={reasonId} class="muted">
            The certificate authority, or a limit that the gateway keeps for it, allows no try for{' '}
            <RelativeTime at={blockedUntil} as="until" />.
          </span>
        )}
      </div>
    </>
  );
}

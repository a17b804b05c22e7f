// Has a certificate revoked and replaced, when its key has got into other hands.

import { useState } from 'preact/hooks';
import { now } from '../../../data/clock.ts';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import {
  type CertificateRevocationReason,
  type DomainQuery,
  RevokeCertificate,
} from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { Note } from '../../../ui/feedback/note.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { SelectField } from '../../../ui/forms/choice-fields.tsx';
import type { Domain } from '../dialogs.tsx';

type Provisioning = NonNullable<NonNullable<DomainQuery['reservedDomain']>['certificateProvisioning']>;

interface RevokeProps {
  domain: Domain;
  certificate: Provisioning;
  /** Called after a change, because the change feed reports it with a delay. */
  onChanged: () => void;
}

const REASONS: { value: CertificateRevocationReason; title: string }[] = [
  { value: 'KEY_COMPROMISE', title: 'Its private key is, or may be, known to others' },
  { value: 'SUPERSEDED', title: 'Another one is to take its place' },
  { value: 'CESSATION_OF_OPERATION', title: 'The service that it was for has ended' },
  { value: 'UNSPECIFIED', title: 'Not specified' },
];

/** Nothing where no certificate is in force, or it is being revoked. */
export function Revoke({ domain: { id, domain }, certificate, onChanged }: RevokeProps) {
  const revoke = useMutation(RevokeCertificate);
  const [isConfirming, setConfirming] = useState(false);
  const [reason, setReason] = useState<CertificateRevocationReason>('KEY_COMPROMISE');
  const { notAfter, revocation } = certificate;
  const isInForce = notAfter !== null && Date.parse(notAfter) > now.value;
  if (!isInForce || revocation?.refusal === null) return null;
  async function confirmed() {
    if (!(await revoke.mutate({ id, reason }))) return;
    setConfirming(false);
    toast('The certificate is being revoked and replaced.');
    onChanged();
  }
  return (
    <>
      <Button variant="danger" onClick={() => setConfirming(true)}>
        Revoke and replace
      </Button>
      {isConfirming && (
        <ConfirmDialog
          title={`Revoke the certificate of ${domain}?`}
          confirmLabel="Revoke and replace it"
          error={revoke.error}
          isBusy={revoke.isBusy}
          onConfirm={() => void confirmed()}
          onClose={() => setConfirming(false)}
        >
          <p>
            Do so when its key has got into other hands. This can’t be undone. Another certificate with a new key is
            obtained at once; until it is there, usually for a minute, visitors are shown the revoked one, and their
            browsers may warn them.
          </p>
          <SelectField
            name="reason"
            label="Why, as the authority publishes it"
            value={reason}
            options={REASONS}
            onChange={(value) => setReason(value as CertificateRevocationReason)}
          />
        </ConfirmDialog>
      )}
    </>
  );
}

/** A revocation that is under way, or was refused. */
export function RevocationNote({ refusal }: { refusal: string | null }) {
  return (
    <Note variant="warn">
      <p>
        {refusal === null
          ? 'A certificate of this domain is being revoked. It is tried again until the authority has done it.'
          : `The authority did not revoke a certificate of this domain; it was replaced all the same. ${refusal}`}
      </p>
    </Note>
  );
}

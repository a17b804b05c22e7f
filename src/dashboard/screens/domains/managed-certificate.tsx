// The certificate of a domain that the gateway obtains and renews, or may obtain.

import { useMutation } from '../../data/hooks/use-mutation.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { UnsetDomainPolicy, UpdateDomain } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import type { Domain } from './dialogs.tsx';
import { NotObtained } from './provisioning/not-obtained.tsx';
import { Orders } from './provisioning/orders.tsx';
import { inForceItems, Progress } from './provisioning/progress.tsx';
import { Retry } from './provisioning/retry.tsx';
import { RevocationNote, Revoke } from './provisioning/revoke.tsx';

export interface DomainCertificateProps {
  domain: Domain;
  /** Whether the gateway obtains certificates. */
  isOn: boolean;
  /** Called after a change, because the change feed reports it with a delay. */
  onChanged: () => void;
}

/** States in which a person can have it tried again; in the others it is being worked on, or done. */
const WAITING: ReadonlySet<string> = new Set(['WAITING_DNS', 'FAILED_RETRYING', 'PAUSED']);

export function ManagedCertificate({ domain, isOn, onChanged }: DomainCertificateProps) {
  const { id, certificate, certificateManagementPolicy: policy, certificateProvisioning: provisioning } = domain;
  const unset = useMutation(UnsetDomainPolicy);
  const items = [
    certificate && {
      name: 'Shown to visitors',
      value: <a href={objectPath('tlsCertificate', certificate.id)}>the certificate of {domain.domain}</a>,
    },
    ...(provisioning ? inForceItems(provisioning) : []),
    isOn && policy && { name: 'Obtained from', value: policy.authority },
    isOn && policy && { name: 'Kind of key', value: policy.privateKeyType },
  ];
  return (
    <>
      {!isOn && <NotObtained isInForce={certificate !== null} />}
      {provisioning && isOn && <Progress certificate={provisioning} />}
      {provisioning && isOn && WAITING.has(provisioning.state) && (
        <Retry domainId={id} certificate={provisioning} onChanged={onChanged} />
      )}
      {(isOn || certificate) && <DescriptionList items={items} />}
      {provisioning && <Orders orders={provisioning.orders} />}
      <ErrorNote error={unset.error} />
      <div class="actions">
        <Button isBusy={unset.isBusy} onClick={async () => void ((await unset.mutate({ id })) && onChanged())}>
          {certificate ? 'Don’t renew it' : 'Don’t obtain one'}
        </Button>
        {provisioning && isOn && <Revoke domain={domain} certificate={provisioning} onChanged={onChanged} />}
      </div>
      {provisioning?.revocation && <RevocationNote {...provisioning.revocation} />}
    </>
  );
}

/** A domain without a certificate, for which none is to be obtained. */
export function NoCertificate({ domain: { id }, isOn, onChanged }: DomainCertificateProps) {
  const set = useMutation(UpdateDomain);
  const input = { certificateManagementPolicy: {} };
  return (
    <>
      <p>None, and none is to be obtained: visitors are shown one of the gateway’s development authority.</p>
      <ErrorNote error={set.error} />
      {isOn && (
        <div class="actions">
          <Button isBusy={set.isBusy} onClick={async () => void ((await set.mutate({ id, input })) && onChanged())}>
            Have one obtained
          </Button>
        </div>
      )}
    </>
  );
}

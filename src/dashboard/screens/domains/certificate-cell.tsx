import { signal } from '@preact/signals';
import { execute } from '../../data/client/client.ts';
import { now } from '../../data/clock.ts';
import type { DomainRowFragment, ProvisioningMarkFragment } from '../../generated/operations.ts';
import { CertificateExpiry } from '../../generated/operations.ts';
import { Tag } from '../../ui/feedback/tag.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { Expiry } from './certificates/expiry.tsx';
import { markOf } from './provisioning/state.ts';

interface CertificateCellProps {
  domain: DomainRowFragment;
  /** Whether the gateway obtains certificates. */
  isOn: boolean;
}

/** The state of the certificate that visitors of a domain get, and when it ends. */
export function CertificateCell({ domain, isOn }: CertificateCellProps) {
  const { cnameTarget, certificate, certificateProvisioning } = domain;
  if (certificateProvisioning) return <ProvisioningCell certificate={certificateProvisioning} isOn={isOn} />;
  if (certificate) {
    const end = certificateExpiry.get(certificate.id);
    return (
      <>
        <Tag>not renewed</Tag>{' '}
        {end && (
          <span>
            ends <Expiry at={end} />
          </span>
        )}
      </>
    );
  }
  return <span class="muted">{cnameTarget === null ? 'the gateway’s own' : 'no certificate'}</span>;
}

function ProvisioningCell({ certificate, isOn }: { certificate: ProvisioningMarkFragment; isOn: boolean }) {
  const { nextAt, notAfter } = certificate;
  const { variant, word } = markOf(certificate, isOn, now.value);
  return (
    <>
      <Tag variant={variant}>{word}</Tag>{' '}
      {notAfter !== null ? (
        <span class="muted">
          ends <RelativeTime at={notAfter} />
        </span>
      ) : (
        nextAt !== null && (
          <span class="muted">
            again <RelativeTime at={nextAt} />
          </span>
        )
      )}
    </>
  );
}

/** By the ids of certificates. Certificates are immutable, so each is requested once. */
const expiryById = signal<ReadonlyMap<string, string>>(new Map());
const requestedIds = new Set<string>();

export const certificateExpiry = {
  get: (id: string): string | undefined => expiryById.value.get(id),
  /** Requests those that are not known yet. */
  load(ids: readonly string[]): void {
    const missing = [...new Set(ids)].filter((id) => !requestedIds.has(id));
    if (missing.length === 0) return;
    for (const id of missing) requestedIds.add(id);
    execute(CertificateExpiry, { ids: missing }).then(
      ({ nodes }) => {
        const found = (nodes ?? []).flatMap((node) =>
          node && 'notAfter' in node ? [[node.id, node.notAfter] as const] : [],
        );
        expiryById.value = new Map([...expiryById.value, ...found]);
      },
      () => {
        for (const id of missing) requestedIds.delete(id);
      },
    );
  },
};

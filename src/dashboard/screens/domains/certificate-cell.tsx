import { signal } from '@preact/signals';
import { execute } from '../../data/client/client.ts';
import type { DomainRowFragment } from '../../generated/operations.ts';
import { CertificateExpiry } from '../../generated/operations.ts';
import { Expiry } from './certificates/expiry.tsx';

/** The certificate that visitors of a domain get, and when it expires. */
export function CertificateCell({ domain }: { domain: DomainRowFragment }) {
  const { cnameTarget, certificate, certificateManagementPolicy } = domain;
  if (certificate) {
    const end = certificateExpiry.get(certificate.id);
    return end ? (
      <>
        ends <Expiry at={end} />
      </>
    ) : (
      <span class="muted">uploaded</span>
    );
  }
  if (cnameTarget === null) return <span class="muted">the gateway’s own</span>;
  return <span class="muted">{certificateManagementPolicy ? 'no certificate yet' : 'no certificate'}</span>;
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

import type { DomainRowFragment } from '../../generated/operations.ts';
import { certificateEnds } from './certificate-ends.ts';
import { Until } from './until.tsx';

/** Which certificate the visitors of a domain see, and how long it lasts. */
export function CertificateCell({ domain }: { domain: DomainRowFragment }) {
  const { cnameTarget, certificate, certificateManagementPolicy } = domain;
  if (certificate) {
    const end = certificateEnds.of(certificate.id);
    return end ? (
      <>
        ends <Until at={end} />
      </>
    ) : (
      <span class="quiet">uploaded</span>
    );
  }
  if (cnameTarget === null) return <span class="quiet">the gateway’s own</span>;
  return <span class="quiet">{certificateManagementPolicy ? 'no certificate yet' : 'no certificate'}</span>;
}

// The revocation of an obtained certificate, as it is asked for and shown.

import type { Revocation } from '../../../acme/jobs/job.ts';
import { builder } from '../../builder/builder.ts';

/** The codes of RFC 5280, section 5.3.1, that Let's Encrypt accepts from the holder of a certificate. */
export const CertificateRevocationReason = builder.enumType('CertificateRevocationReason', {
  description: 'Why a certificate is revoked. The authority publishes it.',
  values: {
    UNSPECIFIED: { value: 0, description: 'Nothing is said of it.' },
    KEY_COMPROMISE: { value: 1, description: 'Its private key is, or may be, known to others.' },
    SUPERSEDED: { value: 4, description: 'Another certificate takes its place.' },
    CESSATION_OF_OPERATION: { value: 5, description: 'The service that it was for has ended.' },
  } as const,
});

export const CertificateRevocation = builder.objectRef<Revocation>('CertificateRevocation').implement({
  description: 'The revocation of a certificate that is under way, or that the authority has refused.',
  fields: (t) => ({
    reason: t.field({
      type: CertificateRevocationReason,
      description: 'Why it is revoked.',
      resolve: ({ reason }) => reason as 0 | 1 | 4 | 5,
    }),
    refusal: t.exposeString('refusal', {
      nullable: true,
      description: 'Why the authority has refused it, for people; null while it is tried.',
    }),
  }),
});

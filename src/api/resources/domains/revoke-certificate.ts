// Has an obtained certificate revoked and replaced, when its key has got into other hands.

import { X509Certificate } from 'node:crypto';
import { awaitsRevocation, type Revocation } from '../../../acme/jobs/job.ts';
import { isBlocked } from '../../../acme/jobs/waits.ts';
import { requestRevocation } from '../../../store/certificates/managed-certificates.ts';
import { rfc3339 } from '../../builder/timestamps.ts';
import { givesObject, mutation } from '../../collections/mutation.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { CertificateRevocationReason } from './certificate-revocation.ts';
import { ReservedDomain, reservedDomains } from './reserved-domains.ts';

const SUPERSEDED = 4;

mutation('revokeCertificate', givesObject('reservedDomain'), (t) =>
  t.prismaField({
    type: ReservedDomain,
    nullable: true,
    access: { kind: 'reservedDomain' },
    description:
      'Has the certificate authority revoke the certificate in force that the gateway obtained for a reserved domain, for ' +
      'when its key has got into other hands, and has another one with a new key obtained at once. Visitors are shown the ' +
      'revoked one until that is there, usually for a minute: browsers that check for revocation may warn them. It is tried ' +
      'again while the authority does not answer; the certificate is replaced in any case. `certificateProvisioning` tells ' +
      'how far it has come. A revocation that is not done yet is given up with the policy of the domain. Fails with ' +
      '`CONFLICT`, and says why, when the domain has no policy or no obtained certificate in force, when one is being ' +
      'revoked, when the authority has asked for no requests until a time, and when the operator has not agreed to the terms ' +
      'of an authority.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the reserved domain.' }),
      reason: t.arg({
        type: CertificateRevocationReason,
        required: true,
        defaultValue: SUPERSEDED,
        description: 'Why, as the authority publishes it.',
      }),
    },
    resolve: async (query, _, { id, reason }, context) => {
      const { accountId, app } = context;
      const { acmeTermsAgreed, acmeDirectoryUrl: directoryUrl } = app.config;
      const where = { id, accountId };
      const certificate = { select: { certificatePem: true, notAfter: true } };
      const select = { managedCertificate: { select: { id: true, revocation: true, certificate } } };
      return context.update(
        reservedDomains,
        id,
        async (db, announce) => {
          const { managedCertificate: job } = requireFound(
            await db.reservedDomain.findUnique({ where, select }),
            'reserved domain',
          );
          if (!acmeTermsAgreed) throw new ApiError('certificatesOff');
          if (!job) throw new ApiError('certificateWithoutPolicy');
          const now = app.now();
          if (!job.certificate || job.certificate.notAfter.getTime() <= now)
            throw new ApiError('certificateNotInForce');
          if (awaitsRevocation({ revocation: job.revocation as Revocation | null }))
            throw new ApiError('certificateBeingRevoked');
          const acmeAccount = await db.acmeAccount.findUnique({
            where: { directoryUrl },
            select: { blockedUntil: true },
          });
          if (acmeAccount?.blockedUntil && isBlocked(acmeAccount.blockedUntil.getTime(), now))
            throw new ApiError('certificateBlocked', { time: rfc3339(acmeAccount.blockedUntil) });
          const pem = new X509Certificate(job.certificate.certificatePem).toString();
          await requestRevocation(db, job.id, { reason, certificate: pem }, new Date(now));
          announce({ kind: 'domainCertificate', action: 'UPDATED', id, accountId });
          return db.reservedDomain.findUniqueOrThrow({ ...query, where });
        },
        { action: 'CERTIFICATE_REVOKED' },
      );
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];

// Has a certificate tried again now, when a person has changed what was wrong.

import { isBlocked } from '../../../acme/jobs/waits.ts';
import { restartJob } from '../../../store/certificates/managed-certificates.ts';
import { rfc3339 } from '../../builder/timestamps.ts';
import { givesObject, mutation } from '../../collections/mutation.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { ReservedDomain, reservedDomains } from './reserved-domains.ts';

mutation('retryCertificate', givesObject('reservedDomain'), (t) =>
  t.prismaField({
    type: ReservedDomain,
    nullable: true,
    access: { kind: 'reservedDomain' },
    description:
      'Tries again now to obtain the certificate of a reserved domain, beginning with its records; an order that is under ' +
      'way is continued. Fails with ' +
      '`CONFLICT`, and says why, when the domain has no policy or a certificate in force that is not due, when the authority ' +
      'or a limit allows no try yet, and when the operator has not agreed to the terms of an authority.',
    args: { id: t.arg.id({ required: true, description: 'The id of the reserved domain.' }) },
    resolve: async (query, _, { id }, context) => {
      const { accountId, app } = context;
      const where = { id, accountId };
      const select = {
        managedCertificate: { select: { id: true, state: true, blockedUntil: true, renewsAt: true, order: true } },
      };
      return context.update(
        reservedDomains,
        id,
        async (db, announce) => {
          const { managedCertificate: job } = requireFound(
            await db.reservedDomain.findUnique({ where, select }),
            'reserved domain',
          );
          if (!app.config.acmeTermsAgreed) throw new ApiError('certificatesOff');
          if (!job) throw new ApiError('certificateWithoutPolicy');
          const now = app.now();
          if (job.state === 'ISSUED')
            throw new ApiError('certificateInForce', { time: job.renewsAt ? rfc3339(job.renewsAt) : '' });
          if (job.blockedUntil && isBlocked(job.blockedUntil.getTime(), now))
            throw new ApiError('certificateBlocked', { time: rfc3339(job.blockedUntil) });
          const at = new Date(now);
          // An order that is under way is continued: another one would be a second certificate.
          if (job.order) await db.managedCertificate.update({ where: { id: job.id }, data: { nextAt: at } });
          else await restartJob(db, job.id, { startedAt: at, nextAt: at });
          announce({ kind: 'domainCertificate', action: 'UPDATED', id, accountId });
          return db.reservedDomain.findUniqueOrThrow({ ...query, where });
        },
        { action: 'CERTIFICATE_RETRIED' },
      );
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];

// Takes from a reserved domain what decides on its certificate (section 2.7 of the specification has both as members of it).

import { followPolicy } from '../../../store/certificates/managed-certificates.ts';
import { Prisma } from '../../../store/generated/prisma/client.ts';
import { mutation } from '../../collections/mutation.ts';
import { route } from '../../route.ts';
import { dropCertificate } from './certificate-choice.ts';
import { reservedDomains } from './reserved-domains.ts';

const payload = {
  gives: ['reservedDomainId', 'The id of the reserved domain.'],
  objects: { reservedDomain: { kind: 'reservedDomain' } },
} as const;

mutation('deleteReservedDomainCertificate', payload, (t) =>
  t.id({
    nullable: true,
    access: { kind: 'reservedDomain' },
    description:
      'Has a reserved domain no longer show the certificate that was uploaded for it: one is to be obtained by the ' +
      'automatic policy again. It is no error when there is none. Fails with `CONFLICT` for one that the gateway obtained ' +
      'and renews: delete the policy instead. Answers with the id of the domain.',
    args: { id: t.arg.id({ required: true, description: 'The id of the reserved domain.' }) },
    resolve: async (_, { id }, context) => {
      const where = { id, accountId: context.accountId };
      await context.update(reservedDomains, id, async (db, announce) => {
        const data = await dropCertificate(id, context, db);
        const row = await db.reservedDomain.update({ where, data, select: { id: true } });
        await followPolicy(db, announce, id, context.app.now());
        return row;
      });
      return id;
    },
  }),
);

mutation('deleteReservedDomainCertificateManagementPolicy', payload, (t) =>
  t.id({
    nullable: true,
    access: { kind: 'reservedDomain' },
    description:
      'Has no certificate obtained or renewed for a reserved domain. One that is there stays until it expires, or another ' +
      'takes its place. A revocation that the authority has not answered yet is given up. It is no error when none is to be ' +
      'obtained. Answers with the id of the domain.',
    args: { id: t.arg.id({ required: true, description: 'The id of the reserved domain.' }) },
    resolve: async (_, { id }, context) => {
      const where = { id, accountId: context.accountId };
      const data = { certificatePolicy: Prisma.DbNull };
      await context.update(reservedDomains, id, async (db, announce) => {
        const row = await db.reservedDomain.update({ where, data, select: { id: true } });
        await followPolicy(db, announce, id, context.app.now());
        return row;
      });
      return id;
    },
  }),
);

const path = '/reserved_domains/:id';

export const routes = [
  route('DELETE', `${path}/certificate`, 204, 'deleteReservedDomainCertificate'),
  route('DELETE', `${path}/certificate_management_policy`, 204, 'deleteReservedDomainCertificateManagementPolicy'),
];

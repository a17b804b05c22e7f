// Takes from a reserved domain what decides on its certificate (section 2.7 of the specification has both as members of it).

import { Prisma } from '../../../store/generated/prisma/client.ts';
import { builder } from '../../builder/builder.ts';
import { route } from '../../route.ts';
import { dropCertificate } from './certificate-choice.ts';
import { reservedDomains } from './reserved-domains.ts';

builder.mutationField('deleteReservedDomainCertificate', (t) =>
  t.id({
    nullable: true,
    description:
      'Has a reserved domain no longer show the certificate that was uploaded for it: one is to be obtained by the ' +
      'automatic policy again. It is no error when there is none. Answers with the id of the domain.',
    args: { id: t.arg.id({ required: true, description: 'The id of the reserved domain.' }) },
    resolve: async (_, { id }, context) => {
      const where = { id, accountId: context.accountId };
      await context.write(reservedDomains, 'UPDATED', async (db) => {
        const data = await dropCertificate(id, context, db);
        return db.reservedDomain.update({ where, data, select: { id: true } });
      });
      return id;
    },
  }),
);

builder.mutationField('deleteReservedDomainCertificateManagementPolicy', (t) =>
  t.id({
    nullable: true,
    description:
      'Has no certificate obtained for a reserved domain. It is no error when none is to be. Answers with the id of the ' +
      'domain.',
    args: { id: t.arg.id({ required: true, description: 'The id of the reserved domain.' }) },
    resolve: async (_, { id }, context) => {
      const where = { id, accountId: context.accountId };
      const data = { certificatePolicy: Prisma.DbNull };
      await context.write(reservedDomains, 'UPDATED', (db) =>
        db.reservedDomain.update({ where, data, select: { id: true } }),
      );
      return id;
    },
  }),
);

const path = '/reserved_domains/:id';

export const routes = [
  route('DELETE', `${path}/certificate`, 204, 'deleteReservedDomainCertificate'),
  route('DELETE', `${path}/certificate_management_policy`, 204, 'deleteReservedDomainCertificateManagementPolicy'),
];

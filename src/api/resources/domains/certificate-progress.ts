// Watching certificates as they come, and those of the gateway's own names.

import { type Change, watch } from '../../../store/changes/changes.ts';
import { isId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { whileAllowed } from '../../collections/watching.ts';
import type { Context } from '../../context.ts';
import { requireFound } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { CertificateProvisioning, type Managed, managedSelect } from './certificate-status.ts';

const KIND = 'domainCertificate';
builder.subscriptionField('certificateProvisioningChanged', (t) =>
  t.field({
    type: CertificateProvisioning,
    nullable: true,
    access: { kind: null },
    description:
      'Tells how far the certificate of a reserved domain has come: at once, and each time that changes; null as long as none ' +
      'is to be obtained.',
    args: { domainId: t.arg.id({ required: true, description: 'The id of the reserved domain: `rd_…`.' }) },
    subscribe: async (_, { domainId: id }, context) => {
      await findProvisioning(context, id);
      const { app, accountId } = context;
      return whileAllowed(context, async function* (signal) {
        const isOurs = (change: Change) => change.kind === KIND && change.id === id && change.accountId === accountId;
        const changes = watch(app.changes, isOurs, signal);
        try {
          let next = changes.next(); // It hears changes from here on: none is missed.
          yield id;
          for (; !(await next).done; next = changes.next()) yield id;
        } finally {
          await changes.return(undefined);
        }
      });
    },
    resolve: (id, _, context) => findProvisioning(context, id),
  }),
);

builder.queryField('gatewayCertificates', (t) =>
  t.field({
    type: [CertificateProvisioning],
    nullable: true,
    access: { kind: null, adminsOnly: 'adminsOnly' },
    description:
      'The certificates of the gateway’s own names, which it obtains where ACME_OWN_NAMES is set; none otherwise. Only admins ' +
      'may ask.',
    resolve: (_, __, { db }) =>
      db.managedCertificate.findMany({
        where: { domainId: null, accountId: '' },
        orderBy: { id: 'asc' },
        select: managedSelect,
      }),
  }),
);

/** @throws {ApiError} when the account has no such domain. */
async function findProvisioning({ db, accountId }: Context, id: string): Promise<Managed | null> {
  const select = { managedCertificate: { select: managedSelect } };
  const row = isId('rd', id) ? await db.reservedDomain.findUnique({ where: { id, accountId }, select }) : null;
  return requireFound(row, 'reserved domain').managedCertificate;
}

/** There is no REST path for it. */
export const routes: Route[] = [];

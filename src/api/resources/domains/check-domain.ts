// Whether the DNS has the records that a reserved domain needs.

import { withDns } from '../../../acme/checks/dns.ts';
import { type DomainCheck as Check, checkDomain } from '../../../acme/checks/dns-check.ts';
import { isId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../../builder/field-cost.ts';
import { requireFound } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { DnsRecordCheck } from './dns-records.ts';

const DomainCheck = builder.objectRef<Check>('DomainCheck').implement({
  description: 'Whether the DNS has the records that a reserved domain needs.',
  fields: (t) => ({
    records: t.field({
      type: [DnsRecordCheck],
      description: 'The records that it needs; none for names below the gateway’s own base domain.',
      resolve: ({ records }) => records,
    }),
    isReady: t.exposeBoolean('isReady', {
      description: 'Whether all of them are there, and what the domain leads to has an address.',
    }),
    message: t.exposeString('message', { description: 'The same in words.' }),
  }),
});

builder.queryField('checkReservedDomain', (t) =>
  t.field({
    type: DomainCheck,
    nullable: true,
    access: { kind: 'reservedDomain' },
    weight: FEW_PER_DOCUMENT,
    description:
      'Asks the DNS now whether it has the records that a reserved domain needs: a CNAME record of the domain (instead ' +
      'of which it may have the addresses of its `cnameTarget`), and for a wildcard whose certificate is to be obtained ' +
      'one of `_acme-challenge`. Of a wildcard, a name below it is asked for. Takes up to eight seconds when name ' +
      'servers are silent. Fails with `NOT_FOUND` when your account has no such domain.',
    args: { id: t.arg.id({ required: true, description: 'The id of the reserved domain: `rd_…`.' }) },
    resolve: async (_, { id }, { db, accountId, app }) => {
      const row = isId('rd', id)
        ? await db.reservedDomain.findUnique({
            where: { id, accountId },
            select: { domain: true, cnameTarget: true, acmeChallengeCnameTarget: true, certificatePolicy: true },
          })
        : null;
      const domain = requireFound(row, 'reserved domain');
      const checked = { ...domain, isCertificateWanted: domain.certificatePolicy !== null };
      return withDns({ servers: app.config.dnsServers }, (dns) => checkDomain(dns, checked));
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];

// Domains whose visitors are about to be warned by their browsers, before they are.

import type { Prisma } from '../../../store/generated/prisma/client.ts';
import { builder } from '../../builder/builder.ts';
import type { Route } from '../../route.ts';
import { CertificateState, type ManagedState } from './certificate-status.ts';

const DAY_MS = 86_400_000;
/** A renewal begins when a third of the life is left: one that still fails so late needs somebody. */
const MANAGED_DAYS = 14;
/** Nobody renews what was uploaded, so whoever has to is told earlier. */
const UPLOADED_DAYS = 30;
/** A renewal that is overdue by so long is not being worked on. */
const OVERDUE_DAYS = 1;
const WARNINGS_MAX = 100;

interface Warning {
  id: string;
  domain: string;
  certificate: { notAfter: Date } | null;
  managedCertificate: { state: ManagedState } | null;
}

const CertificateWarning = builder.objectRef<Warning>('CertificateWarning').implement({
  description: 'A reserved domain whose certificate expires soon, or that has none because none could be obtained.',
  fields: (t) => ({
    domainId: t.exposeID('id', { description: 'The id of the reserved domain: `rd_…`.' }),
    domain: t.exposeString('domain', { description: 'The name that it reserves.' }),
    notAfter: t.field({
      type: 'Timestamp',
      nullable: true,
      description: 'When the certificate that its visitors see expires; null when there is none.',
      resolve: ({ certificate }) => certificate?.notAfter ?? null,
    }),
    state: t.field({
      type: CertificateState,
      nullable: true,
      description: 'The step that its renewal is at; null for a certificate that nobody renews.',
      resolve: ({ managedCertificate }) => managedCertificate?.state ?? null,
    }),
  }),
});

builder.queryField('certificateWarnings', (t) =>
  t.field({
    type: [CertificateWarning],
    nullable: true,
    access: { kind: null },
    description:
      'Reserved domains whose certificates need a person, those that expire first at the beginning; at most 100. These are ' +
      `certificates that expire within ${MANAGED_DAYS} days and whose renewal fails, is overdue or waits for the DNS, or ` +
      `that expire within ${UPLOADED_DAYS} days and are renewed by nobody, and domains that have none because obtaining ` +
      'it failed.',
    resolve: (_, __, { db, accountId, app }) => {
      const now = app.now();
      return db.reservedDomain.findMany({
        where: { accountId, OR: warned(now) },
        orderBy: [{ certificate: { notAfter: 'asc' } }, { id: 'asc' }],
        take: WARNINGS_MAX,
        select: {
          id: true,
          domain: true,
          certificate: { select: { notAfter: true } },
          managedCertificate: { select: { state: true } },
        },
      });
    },
  }),
);

/** @param now milliseconds since 1970. */
function warned(now: number): Prisma.ReservedDomainWhereInput[] {
  const endsWithin = (days: number) => ({ notAfter: { lte: new Date(now + days * DAY_MS) } });
  const isOverdue = { state: 'ISSUED', renewsAt: { lte: new Date(now - OVERDUE_DAYS * DAY_MS) } } as const;
  return [
    { certificate: null, managedCertificate: { state: { in: ['FAILED_RETRYING', 'PAUSED'] } } },
    {
      certificate: endsWithin(MANAGED_DAYS),
      managedCertificate: { OR: [{ state: { in: ['FAILED_RETRYING', 'PAUSED', 'WAITING_DNS'] } }, isOverdue] },
    },
    { certificate: endsWithin(UPLOADED_DAYS), managedCertificate: null },
  ];
}

/** There is no REST path for it. */
export const routes: Route[] = [];

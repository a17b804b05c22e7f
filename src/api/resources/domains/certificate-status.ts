// How far the certificate of a reserved domain has come: as the specification has it (section 2.7), and in full.

import type { CheckedRecord, Revocation } from '../../../acme/jobs/job.ts';
import type { Prisma } from '../../../store/generated/prisma/client.ts';
import { builder } from '../../builder/builder.ts';
import type { ApiSettings } from '../../settings.ts';
import { CertificateRevocation } from './certificate-revocation.ts';
import { DnsRecordCheck } from './dns-records.ts';

/** Orders of a domain that are shown. */
const HISTORY_MAX = 20;

/** They are a query for each domain. */
const ORDERS_WEIGHT = 20;

const NOT_AGREED =
  'This gateway obtains no certificates: its operator has not agreed to the terms of a certificate authority ' +
  '(ACME_TERMS_AGREED). Until it has one, visitors are shown a certificate of its development authority. You can upload one: ' +
  'POST /tls_certificates (createTlsCertificate), then name it in the domain’s certificate_id (certificateId).';

/** Where the job has no words of its own yet. */
const IN_PROGRESS = 'The records of the domain are about to be looked up.';

export const managedSelect = {
  id: true,
  names: true,
  state: true,
  attempts: true,
  startedAt: true,
  nextAt: true,
  blockedUntil: true,
  errorCode: true,
  message: true,
  records: true,
  renewsAt: true,
  renewalInfo: true,
  revocation: true,
  certificate: { select: { notAfter: true, issuedAt: true } },
} satisfies Prisma.ManagedCertificateSelect;

export type Managed = Prisma.ManagedCertificateGetPayload<{ select: typeof managedSelect }>;

const codeOf = (errorCode: number | null) => (errorCode === null ? null : `ERR_GATEWAY_${errorCode}`);
const messageOf = ({ message }: Managed, { acmeTermsAgreed }: ApiSettings) =>
  acmeTermsAgreed ? message || IN_PROGRESS : NOT_AGREED;
/** Only what waits for a time that is told is tried again; the steps between follow each other at once, unless something is wrong. */
const retriesAt = ({ state, nextAt, errorCode }: Managed, { acmeTermsAgreed }: ApiSettings) =>
  acmeTermsAgreed && (state === 'FAILED_RETRYING' || state === 'WAITING_DNS' || errorCode !== null) ? nextAt : null;

const ProvisioningJob = builder.objectRef<Managed>('CertificateProvisioningJob').implement({
  description: 'The work of obtaining a certificate.',
  fields: (t) => ({
    errorCode: t.string({
      nullable: true,
      description: 'The code of what is wrong, such as `ERR_GATEWAY_26015`; null while nothing is.',
      resolve: ({ errorCode }) => codeOf(errorCode),
    }),
    msg: t.string({
      description: 'How things stand, for people: what was found, and what was wanted.',
      resolve: (job, _, { app }) => messageOf(job, app.config),
    }),
    startedAt: t.expose('startedAt', {
      type: 'Timestamp',
      description: 'When the certificate began to be wanted: at the reservation, or when its renewal was due.',
    }),
    retriesAt: t.field({
      type: 'Timestamp',
      nullable: true,
      description: 'When it is tried again; null while it is worked on, and when only a person can help.',
      resolve: (job, _, { app }) => retriesAt(job, app.config),
    }),
  }),
});

export const CertificateManagementStatus = builder.objectRef<Managed>('CertificateManagementStatus').implement({
  description: 'How far the certificate of a reserved domain has come.',
  fields: (t) => ({
    renewsAt: t.expose('renewsAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When the certificate is renewed; null as long as there is none.',
    }),
    provisioningJob: t.field({
      type: ProvisioningJob,
      nullable: true,
      description: 'The work of obtaining the certificate; null once it is there, until it is renewed.',
      resolve: (job) => (job.state === 'ISSUED' ? null : job),
    }),
  }),
});

export type ManagedState = Managed['state'];

export const CertificateState = builder.enumType('CertificateState', {
  description: 'How far a certificate has come.',
  values: {
    WAITING_DNS: { description: 'Records are missing in the DNS. They are looked up again and again.' },
    PREFLIGHT: { description: 'Everything else that would fail at the authority is checked.' },
    ORDERING: { description: 'The certificate is being ordered.' },
    VALIDATING: { description: 'The authority checks that the names lead to this gateway.' },
    FINALIZING: { description: 'The authority issues the certificate.' },
    ISSUED: { description: 'Visitors are shown the certificate.' },
    FAILED_RETRYING: { description: 'It failed, and is tried again at `nextAt`.' },
    PAUSED: { description: 'Only a person can help: see `message`, then `retryCertificate`.' },
  } as const,
});

interface Order {
  orderedAt: Date;
  endedAt: Date | null;
  outcome: string | null;
  errorCode: number | null;
  message: string;
}

const CertificateOrderOutcome = builder.enumType('CertificateOrderOutcome', {
  description: 'How an order of a certificate ended.',
  values: {
    ISSUED: { value: 'issued', description: 'The authority issued the certificate.' },
    FAILED: { value: 'failed', description: 'It did not; the order says why.' },
    ABANDONED: { value: 'abandoned', description: 'The gateway stopped meanwhile.' },
  } as const,
});

const CertificateOrder = builder.objectRef<Order>('CertificateOrder').implement({
  description: 'An order of a certificate at an authority.',
  fields: (t) => ({
    orderedAt: t.expose('orderedAt', { type: 'Timestamp', description: 'When it was placed.' }),
    endedAt: t.expose('endedAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When it ended; null while it is under way.',
    }),
    outcome: t.field({
      type: CertificateOrderOutcome,
      nullable: true,
      description: 'How it ended; null while it is under way.',
      resolve: ({ outcome }) => outcome as typeof CertificateOrderOutcome.$inferType | null, // Nothing else is ever stored.
    }),
    errorCode: t.string({
      nullable: true,
      description: 'The code of what was wrong.',
      resolve: ({ errorCode }) => codeOf(errorCode),
    }),
    message: t.exposeString('message', { description: 'What was wrong, in words; "" when nothing was.' }),
  }),
});

export const CertificateProvisioning = builder.objectRef<Managed>('CertificateProvisioning').implement({
  description: 'A certificate that the gateway obtains and renews: the step that it is at, and what is missing.',
  fields: (t) => ({
    names: t.exposeStringList('names', { description: 'What the certificate is for.' }),
    state: t.field({ type: CertificateState, description: 'The step that it is at.', resolve: ({ state }) => state }),
    message: t.string({
      description: 'How things stand, for people; "" once the certificate is there.',
      resolve: (job, _, { app }) => (job.state === 'ISSUED' ? job.message : messageOf(job, app.config)),
    }),
    errorCode: t.string({
      nullable: true,
      description: 'The code of what is wrong; null while nothing is.',
      resolve: ({ errorCode }) => codeOf(errorCode),
    }),
    attempts: t.exposeInt('attempts', { description: 'Failures since the last certificate.' }),
    startedAt: t.expose('startedAt', { type: 'Timestamp', description: 'When it began to be wanted.' }),
    nextAt: t.field({
      type: 'Timestamp',
      nullable: true,
      description: 'When it is tried again; null while it is worked on, and when only a person can help.',
      resolve: (job, _, { app }) => retriesAt(job, app.config),
    }),
    blockedUntil: t.expose('blockedUntil', {
      type: 'Timestamp',
      nullable: true,
      description: 'Before this time the authority, or a limit, allows no try: `retryCertificate` is refused.',
    }),
    records: t.field({
      type: [DnsRecordCheck],
      description: 'The records that it needs, as they were found last.',
      resolve: ({ records }) => records as unknown as CheckedRecord[],
    }),
    renewsAt: t.expose('renewsAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When the certificate is renewed.',
    }),
    issuedAt: t.field({
      type: 'Timestamp',
      nullable: true,
      description: 'When the certificate in force was issued; null when there is none.',
      resolve: ({ certificate }) => certificate?.issuedAt ?? null,
    }),
    notAfter: t.field({
      type: 'Timestamp',
      nullable: true,
      description: 'When the certificate in force expires; null when there is none.',
      resolve: ({ certificate }) => certificate?.notAfter ?? null,
    }),
    revocation: t.field({
      type: CertificateRevocation,
      nullable: true,
      description:
        'The revocation that `revokeCertificate` has asked for; null when there was none, and once the authority has revoked ' +
        'the certificate.',
      resolve: ({ revocation }) => revocation as unknown as Revocation | null,
    }),
    orders: t.field({
      type: [CertificateOrder],
      weight: ORDERS_WEIGHT,
      description: 'The last orders, the newest first; at most 20, of the last 90 days.',
      resolve: ({ id: managedCertificateId }, _, { db }) =>
        db.certificateOrder.findMany({
          where: { managedCertificateId },
          orderBy: { orderedAt: 'desc' },
          take: HISTORY_MAX,
        }),
    }),
  }),
});

export const certificateSelection =
  'certificateManagementPolicy { authority privateKeyType } ' +
  'certificateManagementStatus { renewsAt provisioningJob { errorCode msg startedAt retriesAt } }';

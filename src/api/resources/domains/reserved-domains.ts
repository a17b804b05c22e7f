// Reserved domains: names that are the account's alone (specification sections 2.7 and 4.7).

import { followPolicy, keepShownElsewhere } from '../../../store/certificates/managed-certificates.ts';
import type { ReservedDomainModel } from '../../../store/generated/prisma/models.ts';
import { newId, randomLabel } from '../../../store/ids.ts';
import { asWritten, writtenBeside } from '../../as-written.ts';
import { builder } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { givesNew, givesObject, mutation } from '../../collections/mutation.ts';
import { rowFields } from '../../collections/notes.ts';
import { reference, typeOfKind } from '../../collections/references.ts';
import { joined, named, related } from '../../collections/related.ts';
import type { Context } from '../../context.ts';
import { checkAll, outcomeOf } from '../../errors/problems.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { Edge } from '../../modules/interfaces.ts';
import { route } from '../../route.ts';
import { checkTexts } from '../../text-limits.ts';
import { changeCertificate, chooseCertificate } from './certificate-choice.ts';
import { CertificateManagementPolicy, type Policy } from './certificate-policy.ts';
import {
  CertificateManagementStatus,
  CertificateProvisioning,
  certificateSelection,
  type Managed,
  managedSelect,
} from './certificate-status.ts';
import { takeDomain } from './conflicting-domains.ts';
import {
  CreateReservedDomainInput,
  checkResolution,
  DomainResolution,
  EVERYWHERE,
  UpdateReservedDomainInput,
} from './domain-inputs.ts';
import { DOMAIN_MEMBERS, DOMAIN_SEARCH } from './domain-members.ts';
import { readDomainName } from './domain-name.ts';
import { checkRegion } from './region.ts';

const CNAME_LABEL_LENGTH = 16;
const ACME_LABEL_LENGTH = 8;

const ROW = { prefix: 'rd', path: '/reserved_domains' };

export const ReservedDomain = builder.prismaObject('ReservedDomain', {
  description: 'A name, or a wildcard for all names below one, that nobody but your account may use.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, { ...ROW, createdAt: 'When it was reserved.' }),
    domain: t.string({
      description:
        'The name, as it was written; one in another script has its `xn--` form. A wildcard begins with `*.`. Names are compared in ' +
        'lower case.',
      select: { domain: true, writtenDomain: true },
      resolve: ({ domain, writtenDomain }) => asWritten(domain, writtenDomain, (text) => text.toLowerCase()),
    }),
    region: t.exposeString('region', { description: 'The region as it was given; "" when it was not.' }),
    cnameTarget: t.exposeString('cnameTarget', {
      nullable: true,
      description: 'What a CNAME record of the domain must say; null for names below the gateway’s own base domain.',
    }),
    httpEndpointConfiguration: t.field({
      type: Edge,
      nullable: true,
      description: 'Always null: a domain is configured through edges.',
      resolve: () => null,
    }),
    httpsEndpointConfiguration: t.field({
      type: Edge,
      nullable: true,
      description: 'Always null: a domain is configured through edges.',
      resolve: () => null,
    }),
    certificate: t.field({
      type: typeOfKind('tlsCertificate'),
      nullable: true,
      description:
        'The certificate that its visitors see, uploaded or obtained; null when it is one of the development authority.',
      select: { certificateId: true },
      resolve: reference(({ certificateId }) => certificateId),
    }),
    certificateManagementPolicy: t.field({
      type: CertificateManagementPolicy,
      nullable: true,
      description:
        'How its certificate is to be obtained; null when one was uploaded, when the policy was deleted, and for names ' +
        'below the gateway’s own base domain, which need none.',
      select: { certificatePolicy: true },
      resolve: ({ certificatePolicy }) => certificatePolicy as Policy | null,
    }),
    certificateManagementStatus: t.field({
      type: CertificateManagementStatus,
      nullable: true,
      description: 'How far its certificate has come; null when it has no policy.',
      select: { managedCertificate: { select: managedSelect } },
      resolve: ({ managedCertificate }) => managedCertificate as Managed | null,
    }),
    certificateProvisioning: t.field({
      type: CertificateProvisioning,
      nullable: true,
      description: 'The same in full: the step, the records, and what was tried; null when it has no policy.',
      select: { managedCertificate: { select: managedSelect } },
      resolve: ({ managedCertificate }) => managedCertificate as Managed | null,
    }),
    endpoints: related(t, {
      ...{ kind: 'endpoint', on: named('domain_id'), member: 'domain.id' },
      description: 'The endpoints whose names are it or below it.',
    }),
    httpsEdges: related(t, {
      ...{ kind: 'httpsEdge', on: joined('edge_hostport', 'domain_id', 'edge_id') },
      description: 'The HTTPS edges that answer it or names below it.',
    }),
    tlsEdges: related(t, {
      ...{ kind: 'tlsEdge', on: joined('edge_hostport', 'domain_id', 'edge_id') },
      description: 'The TLS edges that answer it or names below it.',
    }),
    resolvesTo: t.field({
      type: [DomainResolution],
      description: 'Where its name leads: to every node of the gateway, which is the only choice.',
      resolve: () => [EVERYWHERE],
    }),
    acmeChallengeCnameTarget: t.exposeString('acmeChallengeCnameTarget', {
      nullable: true,
      description:
        'What a CNAME record of `_acme-challenge.` and the name below the `*.` must say; null for what is no wildcard, ' +
        'and below the gateway’s own base domain.',
    }),
  }),
});

export const reservedDomains = collection({
  kind: 'reservedDomain',
  ...ROW,
  single: 'reservedDomain',
  plural: 'reservedDomains',
  typeName: 'ReservedDomain',
  ref: ReservedDomain,
  members: DOMAIN_MEMBERS,
  table: (db) => db.reservedDomain,
  audit: { name: 'domain', subject: 'A reserved domain' },
  conflicts: { taken: 'domainReservedByYou', inUse: 'domainInUse' },
  search: DOMAIN_SEARCH,
});

mutation('createReservedDomain', givesNew('reservedDomain', 'ReservedDomain'), (t) =>
  t.prismaField({
    type: ReservedDomain,
    nullable: true,
    access: { kind: 'reservedDomain' },
    description:
      'Reserves a domain with all names below it: other accounts can reserve none of them. Fails with `CONFLICT` when ' +
      'it is reserved already, or another account has a name above or below it.',
    args: {
      input: t.arg({ type: CreateReservedDomainInput, required: true, description: 'The reserved domain.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => reserveDomain(query, input, context),
  }),
);

/**
 * Reserves a domain for the account of the caller.
 * @param query what is to be read of it.
 * @throws {ApiError} when it cannot be reserved.
 */
export function reserveDomain(
  query: object,
  input: typeof CreateReservedDomainInput.$inferInput,
  context: Context,
): Promise<ReservedDomainModel> {
  const { accountId, app } = context;
  const { config } = app;
  const now = app.now();
  const id = newId(reservedDomains.prefix);
  const nameOf = outcomeOf(() => readDomainName(input.domain, config));
  return context.create(reservedDomains, async (db, announce) => {
    const { name, texts, region, certificate } = await checkAll({
      name: nameOf,
      resolution: () => checkResolution(input.resolvesTo),
      texts: () => checkTexts(input, 'domain'),
      region: () => checkRegion(input.region ?? ''),
      taken: () => takeDomain(db, accountId, nameOf(), config),
      certificate: () => chooseCertificate(input, nameOf(), context, db),
    });
    const { domain, isOurs, isWildcard } = name;
    const names = { domain, writtenDomain: writtenBeside(domain, name.shown) };
    const targets = isOurs
      ? {}
      : {
          cnameTarget: `${randomLabel(CNAME_LABEL_LENGTH)}.${config.cnameDomain}`,
          acmeChallengeCnameTarget: isWildcard ? `${randomLabel(ACME_LABEL_LENGTH)}.${config.acmeDomain}` : null,
        };
    const data = { ...texts, id, accountId, createdAt: new Date(now), ...names, region, ...targets, ...certificate };
    await db.reservedDomain.create({ data, select: { id: true } });
    await followPolicy(db, announce, id, now);
    return db.reservedDomain.findUniqueOrThrow({ ...query, where: { id } });
  });
}

mutation('updateReservedDomain', givesObject('reservedDomain'), (t) =>
  t.prismaField({
    type: ReservedDomain,
    nullable: true,
    access: { kind: 'reservedDomain' },
    description: 'Changes what is noted of a reserved domain, and how its certificate is to be obtained.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the reserved domain.' }),
      input: t.arg({ type: UpdateReservedDomainInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId };
      return context.update(reservedDomains, id, async (db, announce) => {
        const { texts, certificate } = await checkAll({
          texts: () => checkTexts(input, 'domain'),
          resolution: () => checkResolution(input.resolvesTo),
          certificate: () => changeCertificate(input, id, context, db),
        });
        await db.reservedDomain.update({ where, data: { ...texts, ...certificate }, select: { id: true } });
        await followPolicy(db, announce, id, context.app.now());
        return db.reservedDomain.findUniqueOrThrow({ ...query, where });
      });
    },
  }),
);

deleteMutation(reservedDomains, 'deleteReservedDomain', {
  description:
    'Gives a domain up: anybody may reserve it from now on. Answers with its id; fails with `CONFLICT` while an edge ' +
    'answers on it.',
  before: keepShownElsewhere,
});

/** The members of the specification (section 2.7), and notes. */
const selection =
  'id uri createdAt description metadata domain region cnameTarget httpEndpointConfiguration { id uri } ' +
  'httpsEndpointConfiguration { id uri } certificate { id uri } ' +
  `${certificateSelection} acmeChallengeCnameTarget`;

/** What domains were configured by before there were edges. */
const ignoredMembers = ['http_endpoint_configuration_id', 'https_endpoint_configuration_id'];

const extended = { selection: `${selection} resolvesTo { value }` };

export const routes = [
  route('POST', '/reserved_domains', 201, 'createReservedDomain', selection, { ignoredMembers, extended }),
  ...readRoutes(reservedDomains, 'reserved_domains', selection, extended),
  route('PATCH', '/reserved_domains/:id', 200, 'updateReservedDomain', selection, { ignoredMembers, extended }),
  route('DELETE', '/reserved_domains/:id', 204, 'deleteReservedDomain'),
];

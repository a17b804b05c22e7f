// Reserved domains: names that are the account's alone (specification sections 2.7 and 4.7).

import { newId, randomLabel } from '../../../store/ids.ts';
import { builder, Ref } from '../../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../../collections/collection.ts';
import { ApiError } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { route } from '../../route.ts';
import { checkTexts } from '../../text-limits.ts';
import { changeCertificate, chooseCertificate } from './certificate-choice.ts';
import {
  CertificateManagementPolicy,
  CertificateManagementPolicyInput,
  CertificateManagementStatus,
  certificateSelection,
  type Policy,
} from './certificate-management.ts';
import { checkHolders } from './conflicting-domains.ts';
import { readDomainName } from './domain-name.ts';

const CNAME_LABEL_LENGTH = 16;
const ACME_LABEL_LENGTH = 8;
const REGION_MAX_BYTES = 64;

const ReservedDomain = builder.prismaObject('ReservedDomain', {
  description: 'A name, or a wildcard for all names below one, that nobody but your account may use.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `rd_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/reserved_domains/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was reserved.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    domain: t.exposeString('domain', {
      description: 'The name, in lower case; one in another script has its `xn--` form. A wildcard begins with `*.`.',
    }),
    region: t.exposeString('region', { description: 'The region as it was given; "" when it was not.' }),
    cnameTarget: t.exposeString('cnameTarget', {
      nullable: true,
      description: 'What a CNAME record of the domain must say; null for names below the gateway’s own base domain.',
    }),
    httpEndpointConfiguration: t.field({
      type: Ref,
      nullable: true,
      description: 'Always null: a domain is configured through edges.',
      resolve: () => null,
    }),
    httpsEndpointConfiguration: t.field({
      type: Ref,
      nullable: true,
      description: 'Always null: a domain is configured through edges.',
      resolve: () => null,
    }),
    certificate: t.field({
      type: Ref,
      nullable: true,
      description:
        'The certificate that was uploaded for its visitors; null when they see one that the gateway has chosen.',
      select: { certificateId: true },
      resolve: ({ certificateId: id }) => (id === null ? null : { id, path: `/tls_certificates/${id}` }),
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
      select: { certificatePolicy: true, createdAt: true },
      resolve: ({ certificatePolicy, createdAt }) => (certificatePolicy ? { since: createdAt } : null),
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
  prefix: 'rd',
  path: '/reserved_domains',
  single: 'reservedDomain',
  plural: 'reservedDomains',
  typeName: 'ReservedDomain',
  ref: ReservedDomain,
  table: (db) => db.reservedDomain,
  audit: { name: 'domain', subject: 'A reserved domain' },
  conflicts: { taken: 'domainReservedByYou', inUse: 'domainInUse' },
  search: {
    ...{ rank: 80, table: 'reserved_domain', title: 't.domain', detail: 't.description' },
    texts: ['t.domain', 't.cname_target', 't.acme_challenge_cname_target', ...NOTE_COLUMNS],
  },
});

const certificateHelp =
  'The id of a TLS certificate of your account that covers the domain, to be shown to its visitors. Below the gateway’s ' +
  'own base domain there can be none.';

const CreateReservedDomainInput = builder.inputType('CreateReservedDomainInput', {
  description: 'A domain to reserve.',
  fields: (t) => ({
    domain: t.string({
      required: true,
      description:
        'A full name such as `app.example.com`, or a wildcard such as `*.example.com`, which stands for every name ' +
        'below `example.com`. It must end in a public top-level domain, or lie below the gateway’s own base domain.',
    }),
    region: t.string({ description: 'Shown as it is given: letters, digits and hyphens, at most 64 bytes.' }),
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
    certificateManagementPolicy: t.field({
      type: CertificateManagementPolicyInput,
      description: 'How its certificate is to be obtained. Below the gateway’s own base domain it must be left out.',
    }),
    certificateId: t.id({ description: `${certificateHelp} Without, it is obtained by a policy.` }),
  }),
});

const UpdateReservedDomainInput = builder.inputType('UpdateReservedDomainInput', {
  description: 'What to change; a member left out or null stays as it is. The domain and its region stay for good.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
    certificateManagementPolicy: t.field({
      type: CertificateManagementPolicyInput,
      description:
        'How its certificate is to be obtained, in place of one that was uploaded. Members left out stay as they are; ' +
        '"" is the default.',
    }),
    certificateId: t.id({
      description: `${certificateHelp} It takes the place of the policy. "" has the certificate obtained by a policy again.`,
    }),
  }),
});

builder.mutationField('createReservedDomain', (t) =>
  t.prismaField({
    type: ReservedDomain,
    nullable: true,
    description:
      'Reserves a domain with all names below it: other accounts can reserve none of them. Fails with `CONFLICT` when ' +
      'it is reserved already, or another account has a name above or below it.',
    args: {
      input: t.arg({ type: CreateReservedDomainInput, required: true, description: 'The domain.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const { accountId, app } = context;
      const { config } = app;
      const name = readDomainName(input.domain, config);
      const data = {
        ...checkTexts(input, 'domain'),
        id: newId(reservedDomains.prefix),
        accountId,
        domain: name.domain,
        region: checkRegion(input.region ?? ''),
        ...(name.isOurs
          ? {}
          : {
              cnameTarget: `${randomLabel(CNAME_LABEL_LENGTH)}.${config.cnameDomain}`,
              acmeChallengeCnameTarget: name.isWildcard
                ? `${randomLabel(ACME_LABEL_LENGTH)}.${config.acmeDomain}`
                : null,
            }),
      };
      return context.write(reservedDomains, 'CREATED', async (db) => {
        await checkHolders(db, accountId, name, config.baseDomain);
        const certificate = await chooseCertificate(input, name, context, db);
        return db.reservedDomain.create({ ...query, data: { ...data, ...certificate } });
      });
    },
  }),
);

builder.mutationField('updateReservedDomain', (t) =>
  t.prismaField({
    type: ReservedDomain,
    nullable: true,
    description: 'Changes what is noted of a reserved domain, and how its certificate is to be obtained.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the reserved domain.' }),
      input: t.arg({ type: UpdateReservedDomainInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId };
      const texts = checkTexts(input, 'domain');
      return context.write(reservedDomains, 'UPDATED', async (db) => {
        const certificate = await changeCertificate(input, id, context, db);
        return db.reservedDomain.update({ ...query, where, data: { ...texts, ...certificate } });
      });
    },
  }),
);

deleteMutation(reservedDomains, 'deleteReservedDomain', {
  description:
    'Gives a domain up: anybody may reserve it from now on. Answers with its id; fails with `CONFLICT` while an edge ' +
    'answers on it.',
});

function checkRegion(region: string): string {
  if (region.length > REGION_MAX_BYTES || !/^[a-z0-9-]*$/i.test(region))
    throw new ApiError('badRegion', { member: 'region', max: REGION_MAX_BYTES });
  return region;
}

const selection =
  'id uri createdAt description metadata domain region cnameTarget httpEndpointConfiguration { id uri } ' +
  'httpsEndpointConfiguration { id uri } certificate { id uri } ' +
  `${certificateSelection} acmeChallengeCnameTarget`;

/** What domains were configured by before there were edges. */
const unavailable = ['http_endpoint_configuration_id', 'https_endpoint_configuration_id'];

export const routes = [
  route('POST', '/reserved_domains', 201, 'createReservedDomain', selection, unavailable),
  ...readRoutes(reservedDomains, 'reserved_domains', selection),
  route('PATCH', '/reserved_domains/:id', 200, 'updateReservedDomain', selection, unavailable),
  route('DELETE', '/reserved_domains/:id', 204, 'deleteReservedDomain'),
];

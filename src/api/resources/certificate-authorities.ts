// Certificate authorities: whom mutual TLS trusts to name visitors. Only certificates, never keys.

import { newId } from '../../store/ids.ts';
import { builder } from '../builder/builder.ts';
import { collection, deleteMutation, Node, readRoutes } from '../collections/collection.ts';
import { NOTED_MEMBERS, text, time } from '../collections/members.ts';
import { idempotencyKeyArgument } from '../idempotency.ts';
import { NOTE_COLUMNS } from '../resource.ts';
import { route } from '../route.ts';
import { checkTexts } from '../text-limits.ts';
import { readAuthority } from './certificates/certificate.ts';

const CertificateAuthority = builder.prismaObject('CertificateAuthority', {
  description: 'An authority that issues the certificates of visitors: mutual TLS modules name whom they trust.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `ca_…`.' }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id }, _, context) => context.uri(`/certificate_authorities/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was uploaded.' }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
    caPem: t.exposeString('caPem', { description: 'Its certificate in PEM, as it was uploaded.' }),
    subjectCommonName: t.exposeString('subjectCommonName', {
      description: 'The common name of the certificate’s subject; "" when it has none.',
    }),
    notBefore: t.expose('notBefore', { type: 'Timestamp', description: 'When the certificate comes into force.' }),
    notAfter: t.expose('notAfter', { type: 'Timestamp', description: 'When the certificate expires.' }),
    keyUsages: t.exposeStringList('keyUsages', {
      description:
        'What its key may be used for, as `cert_sign` and `crl_sign`; empty when the certificate does not say.',
    }),
    extendedKeyUsages: t.exposeStringList('extendedKeyUsages', {
      description:
        'For which purposes, as `client_auth`, or an object identifier where it has no name here; empty when the ' +
        'certificate does not say.',
    }),
  }),
});

const certificateAuthorities = collection({
  kind: 'certificateAuthority',
  prefix: 'ca',
  path: '/certificate_authorities',
  single: 'certificateAuthority',
  plural: 'certificateAuthorities',
  typeName: 'CertificateAuthority',
  ref: CertificateAuthority,
  members: {
    ...NOTED_MEMBERS,
    subject_common_name: text('subjectCommonName', { isOrdered: true }),
    not_before: time('notBefore', { isOrdered: false }),
    not_after: time('notAfter'),
  },
  table: (db) => db.certificateAuthority,
  audit: { name: 'certificate_authority', subject: 'A certificate authority' },
  search: {
    ...{ rank: 100, table: 'certificate_authority', title: 't.subject_common_name', detail: 't.description' },
    texts: ['t.subject_common_name', ...NOTE_COLUMNS],
  },
});

const CreateCertificateAuthorityInput = builder.inputType('CreateCertificateAuthorityInput', {
  description: 'A new certificate authority.',
  fields: (t) => ({
    caPem: t.string({
      required: true,
      description:
        'Its certificate in PEM: exactly one, of an authority (basicConstraints CA true), at most 16 KiB. It may have ' +
        'expired.',
    }),
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
  }),
});

const UpdateCertificateAuthorityInput = builder.inputType('UpdateCertificateAuthorityInput', {
  description: 'What to change; a member left out or null stays as it is. The certificate stays for good.',
  fields: (t) => ({
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
  }),
});

builder.mutationField('createCertificateAuthority', (t) =>
  t.prismaField({
    type: CertificateAuthority,
    nullable: true,
    access: { kind: 'certificateAuthority' },
    description: 'Uploads the certificate of an authority. It has no effect until a mutual TLS module names it.',
    args: {
      input: t.arg({
        type: CreateCertificateAuthorityInput,
        required: true,
        description: 'The certificate authority.',
      }),
      ...idempotencyKeyArgument,
    },
    resolve: (query, _, { input }, context) => {
      const { accountId } = context;
      const { caPem } = input;
      const data = {
        ...checkTexts(input),
        ...readAuthority(caPem),
        id: newId(certificateAuthorities.prefix),
        accountId,
        caPem,
      };
      return context.create(certificateAuthorities, (db) => db.certificateAuthority.create({ ...query, data }));
    },
  }),
);

builder.mutationField('updateCertificateAuthority', (t) =>
  t.prismaField({
    type: CertificateAuthority,
    nullable: true,
    access: { kind: 'certificateAuthority' },
    description: 'Changes what is noted of a certificate authority.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the certificate authority.' }),
      input: t.arg({ type: UpdateCertificateAuthorityInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => {
      const where = { id, accountId: context.accountId };
      const data = checkTexts(input);
      return context.update(certificateAuthorities, id, (db) =>
        db.certificateAuthority.update({ ...query, where, data }),
      );
    },
  }),
);

deleteMutation(certificateAuthorities, 'deleteCertificateAuthority', {
  description:
    'Deletes a certificate authority. Answers with its id; fails with `CONFLICT` while a mutual TLS module names it.',
});

const selection =
  'id uri createdAt description metadata caPem subjectCommonName notBefore notAfter keyUsages extendedKeyUsages';

export const routes = [
  route('POST', '/certificate_authorities', 201, 'createCertificateAuthority', selection),
  ...readRoutes(certificateAuthorities, 'certificate_authorities', selection),
  route('PATCH', '/certificate_authorities/:id', 200, 'updateCertificateAuthority', selection),
  route('DELETE', '/certificate_authorities/:id', 204, 'deleteCertificateAuthority'),
];

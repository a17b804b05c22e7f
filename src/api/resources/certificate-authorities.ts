// Certificate authorities: whom mutual TLS trusts to name visitors. Only certificates, never keys.

import { builder } from '../builder/builder.ts';
import { Node } from '../collections/collection.ts';
import { NOTED_MEMBERS, text, time } from '../collections/members.ts';
import { rowFields } from '../collections/notes.ts';
import { joined, related } from '../collections/related.ts';
import { resource } from '../collections/resource.ts';
import { NOTE_COLUMNS } from '../resource.ts';
import { readAuthority } from './certificates/certificate.ts';

const ROW = { prefix: 'ca', path: '/certificate_authorities' };

const CertificateAuthority = builder.prismaObject('CertificateAuthority', {
  description: 'An authority that issues the certificates of visitors: mutual TLS modules name whom they trust.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, { ...ROW, createdAt: 'When it was uploaded.' }),
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
    httpsEdges: related(t, {
      ...{ kind: 'httpsEdge', on: joined('mutual_tls_authority', 'authority_id', 'edge_id') },
      description: 'The HTTPS edges whose mutual TLS module trusts it.',
    }),
    tlsEdges: related(t, {
      ...{ kind: 'tlsEdge', on: joined('mutual_tls_authority', 'authority_id', 'edge_id') },
      description: 'The TLS edges whose mutual TLS module trusts it.',
    }),
  }),
});

export const { routes } = resource({
  kind: 'certificateAuthority',
  model: 'CertificateAuthority',
  ...ROW,
  ref: CertificateAuthority,
  shows: 'id uri createdAt description metadata caPem subjectCommonName notBefore notAfter keyUsages extendedKeyUsages',
  members: {
    ...NOTED_MEMBERS,
    subject_common_name: text('subjectCommonName', { isOrdered: true }),
    not_before: time('notBefore', { isOrdered: false }),
    not_after: time('notAfter'),
  },
  audit: { name: 'certificate_authority', subject: 'A certificate authority' },
  search: {
    ...{ rank: 100, table: 'certificate_authority', title: 't.subject_common_name', detail: 't.description' },
    texts: ['t.subject_common_name', ...NOTE_COLUMNS],
  },
  create: {
    description: 'Uploads the certificate of an authority. It has no effect until a mutual TLS module names it.',
    input: (t) => ({
      caPem: t.string({
        required: true,
        description:
          'Its certificate in PEM: exactly one, of an authority (basicConstraints CA true), at most 16 KiB. It may have ' +
          'expired.',
      }),
    }),
    write: ({ caPem }) => ({ ...readAuthority(caPem), caPem }),
  },
  update: {
    description: 'Changes what is noted of a certificate authority.',
    note: 'The certificate stays for good.',
  },
  remove: {
    description:
      'Deletes a certificate authority. Answers with its id; fails with `CONFLICT` while a mutual TLS module names it.',
  },
});

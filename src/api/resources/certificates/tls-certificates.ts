// TLS certificates: what visitors of reserved domains are shown, uploaded or obtained. Their private keys never come out.

import { X509Certificate } from 'node:crypto';
import { unknownIssuer } from '../../../runtime/unknown-issuer.ts';
import { sealPrivateKey } from '../../../store/keys/private-keys.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { NOTED_MEMBERS, text, textIn, texts, time } from '../../collections/members.ts';
import { rowFields } from '../../collections/notes.ts';
import { named, related } from '../../collections/related.ts';
import { resource } from '../../collections/resource.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { readServerCertificate, type Subject } from './server-certificate.ts';

/** Certificate authorities of one common name that are looked at. */
const AUTHORITIES_MAX = 10;
/** The authorities are looked up for each certificate. */
const MISSING_ISSUER_WEIGHT = 10;

const ROW = { prefix: 'cert', path: '/tls_certificates' };

interface AlternativeNames {
  dnsNames: string[];
  ips: string[];
}

const SubjectAlternativeNames = builder.objectRef<AlternativeNames>('SubjectAlternativeNames').implement({
  description: 'What a certificate is for.',
  fields: (t) => ({
    dnsNames: t.exposeStringList('dnsNames', {
      description: 'Names, in lower case; one that begins with `*.` is for all names one label longer.',
    }),
    ips: t.exposeStringList('ips', { description: 'IP addresses.' }),
  }),
});

const TlsCertificate = builder.prismaObject('TlsCertificate', {
  description: 'A certificate with its private key, to be shown to the visitors of reserved domains.',
  interfaces: [Node],
  fields: (t) => {
    const ofSubject = (part: keyof Subject, description: string) =>
      t.string({
        description: `${description} of the certificate’s subject; "" when it has none.`,
        select: { subject: true },
        resolve: ({ subject }) => (subject as unknown as Subject)[part],
      });
    return {
      ...rowFields(t, { ...ROW, createdAt: 'When it was uploaded, or obtained for the first time.' }),
      certificatePem: t.string({
        description:
          'The certificate in PEM, and those it is issued by after it; as it was written, where it was uploaded.',
        select: { certificatePem: true, writtenPem: true },
        resolve: ({ certificatePem, writtenPem }) => writtenPem ?? certificatePem,
      }),
      subjectCommonName: ofSubject('commonName', 'The common name'),
      subjectOrganization: ofSubject('organization', 'The organization'),
      subjectOrganizationalUnit: ofSubject('organizationalUnit', 'The organizational unit'),
      subjectLocality: ofSubject('locality', 'The locality'),
      subjectProvince: ofSubject('province', 'The state or province'),
      subjectCountry: ofSubject('country', 'The country'),
      subjectAlternativeNames: t.field({
        type: SubjectAlternativeNames,
        description: 'The names and addresses that it is for.',
        select: { dnsNames: true, ips: true },
        resolve: (names) => names,
      }),
      domains: related(t, {
        ...{ kind: 'reservedDomain', on: named('certificate_id'), member: 'certificate.id' },
        description: 'The reserved domains that are served with it.',
      }),
      issuedAt: t.field({
        type: 'Timestamp',
        nullable: true,
        description: 'When the gateway obtained it; null when it was uploaded.',
        select: { issuedAt: true },
        resolve: ({ issuedAt }) => issuedAt,
      }),
      renewsAt: t.field({
        type: 'Timestamp',
        nullable: true,
        description: 'When the gateway renews it; null when it was uploaded, or is not renewed any more.',
        select: { managed: { select: { renewsAt: true } } },
        resolve: ({ managed }) => managed?.renewsAt ?? null,
      }),
      notBefore: t.expose('notBefore', { type: 'Timestamp', description: 'When the certificate comes into force.' }),
      notAfter: t.expose('notAfter', { type: 'Timestamp', description: 'When the certificate expires.' }),
      keyUsages: t.exposeStringList('keyUsages', {
        description: 'What its key may be used for, as `digital_signature`; empty when the certificate does not say.',
      }),
      extendedKeyUsages: t.exposeStringList('extendedKeyUsages', {
        description:
          'For which purposes, as `server_auth`, or an object identifier where it has no name here; empty when the ' +
          'certificate does not say.',
      }),
      privateKeyType: t.exposeString('privateKeyType', {
        description: 'The kind of its private key: `rsa`, `ecdsa` or `ed25519`.',
      }),
      issuerCommonName: t.exposeString('issuerCommonName', {
        description: 'The common name of who issued it; "" when there is none.',
      }),
      missingIssuer: t.string({
        nullable: true,
        weight: MISSING_ISSUER_WEIGHT,
        description:
          'Who issued it, where it was uploaded without the certificate of its issuer and visitors may not have that: it is neither ' +
          'a publicly trusted root nor one of the account’s certificate authorities. Null otherwise.',
        select: { certificatePem: true, issuedAt: true },
        resolve: async ({ certificatePem, issuedAt }, _, { db, accountId }) => {
          // The authority of one that was obtained has told which certificates belong to it.
          const issuer = issuedAt === null ? unknownIssuer(certificatePem) : undefined;
          if (issuer === undefined) return null;
          const commonName = issuer.split('\n').findLast((attribute) => attribute.startsWith('CN='));
          const where = { accountId, subjectCommonName: commonName?.slice('CN='.length) ?? '' };
          const known = await db.certificateAuthority.findMany({
            where,
            select: { caPem: true },
            take: AUTHORITIES_MAX,
          });
          const isKnown = known.some(({ caPem }) => new X509Certificate(caPem).subject === issuer);
          return isKnown ? null : issuer.replaceAll('\n', ', ');
        },
      }),
      serialNumber: t.exposeString('serialNumber', {
        description: 'The number that its issuer gave it, in lower-case hexadecimal.',
      }),
    };
  },
});

export const { routes } = resource({
  kind: 'tlsCertificate',
  model: 'TlsCertificate',
  ...ROW,
  ref: TlsCertificate,
  shows:
    'id uri createdAt description metadata certificatePem subjectCommonName subjectOrganization ' +
    'subjectOrganizationalUnit subjectLocality subjectProvince subjectCountry ' +
    'subjectAlternativeNames { dnsNames ips } issuedAt notBefore notAfter keyUsages extendedKeyUsages privateKeyType ' +
    'issuerCommonName serialNumber',
  members: {
    ...NOTED_MEMBERS,
    subject_common_name: textIn('subject', 'commonName'),
    'subject_alternative_names.dns_names': texts('dnsNames'),
    'subject_alternative_names.ips': texts('ips'),
    issuer_common_name: text('issuerCommonName'),
    serial_number: text('serialNumber'),
    private_key_type: text('privateKeyType'),
    not_before: time('notBefore', { isOrdered: false }),
    not_after: time('notAfter'),
    issued_at: time('issuedAt', { isNullable: true, isOrdered: false }),
  },
  audit: { name: 'tls_certificate', subject: 'A TLS certificate' },
  search: {
    ...{
      rank: 90,
      table: 'tls_certificate',
      title: `coalesce(nullif(array_to_string(t.dns_names || t.ips, ', '), ''), t.subject ->> 'commonName')`,
      detail: 't.description',
    },
    texts: [
      `array_to_string(t.dns_names || t.ips, ', ')`,
      `t.subject ->> 'commonName'`,
      't.serial_number',
      ...NOTE_COLUMNS,
    ],
  },
  create: {
    description: 'Uploads a certificate with its key. No visitor is shown it until a reserved domain names it.',
    input: (t) => ({
      certificatePem: t.string({
        required: true,
        description:
          'The certificate in PEM, and after it those that it is issued by, each by the next; at most 32 KiB. It must ' +
          'not have expired.',
      }),
      privateKeyPem: t.string({
        required: true,
        description:
          'Its private key in PEM, not encrypted: RSA of 2048 to 4096 bits, ECDSA (P-256, P-384, P-521) or Ed25519. ' +
          'Nobody can read it afterwards.',
      }),
    }),
    write({ certificatePem, privateKeyPem }, { accountId, app }, id) {
      const { certificate, privateKey } = readServerCertificate(certificatePem, privateKeyPem, app.now());
      return {
        ...certificate,
        subject: { ...certificate.subject },
        privateKey: sealPrivateKey(app.keys, { id, accountId }, privateKey),
      };
    },
  },
  update: {
    description: 'Changes what is noted of a TLS certificate.',
    note: 'The certificate stays for good.',
  },
  remove: {
    description:
      'Deletes a certificate with its key. Answers with its id; fails with `CONFLICT` while a reserved domain names it.',
  },
});

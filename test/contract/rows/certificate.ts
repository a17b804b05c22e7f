// What is uploaded in PEM: certificate authorities, TLS certificates, and which of these a reserved domain has.

import * as expected from '../expected.ts';
import { shapes } from '../shapes.ts';
import type { World } from '../world.ts';
import { crud, texts } from './crud.ts';
import { fresh, type Row, row } from './rows.ts';

const authorities = crud({
  path: '/certificate_authorities',
  single: 'certificateAuthority',
  plural: 'certificateAuthorities',
  key: 'certificate_authorities',
  shape: shapes.authority,
  make: expected.authority,
  body: ({ caPem }) => ({ ca_pem: caPem, ...texts }),
  shown: () => texts,
  change: { description: 'changed' },
  listed: (world, got) => [expected.authority(world, got[0], { id: world.ids.authority })],
});

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const certificate = (world: World, got: any, own: object) => ({
  ...expected.common(world, 'cert', '/tls_certificates', got),
  certificate_pem: world.server.certificate_pem,
  subject_common_name: 'Shop of the test',
  subject_organization: 'Shops',
  subject_organizational_unit: 'Web',
  subject_locality: 'Mitte',
  subject_province: 'Berlin',
  subject_country: 'DE',
  subject_alternative_names: {
    dns_names: ['*.world.example.com', 'shop.example.com'],
    ips: ['192.0.2.7', '2001:db8::7'],
  },
  issued_at: null,
  not_before: '2024-01-01T00:00:00Z',
  not_after: '2044-01-01T00:00:00Z',
  key_usages: ['digital_signature'],
  extended_key_usages: ['server_auth'],
  private_key_type: 'ecdsa',
  issuer_common_name: 'Shop of the test',
  serial_number: '0a1b2c',
  ...own,
});

const certificates = crud({
  path: '/tls_certificates',
  single: 'tlsCertificate',
  plural: 'tlsCertificates',
  key: 'tls_certificates',
  shape: shapes.certificate,
  make: certificate,
  body: ({ server }) => ({ ...server, ...texts }),
  shown: () => texts,
  change: { metadata: '' },
  listed: (world, got) => [certificate(world, got[0], { id: world.ids.certificate })],
});

let made = 0;
/** A domain that the world's certificate covers. */
const covered = () => `d${++made}.world.example.com`;
const withCertificate = fresh('/reserved_domains', ({ ids }) => ({
  domain: covered(),
  certificate_id: ids.certificate,
}));
const withPolicy = fresh('/reserved_domains', () => ({ domain: covered() }));

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const served = (world: World, got: any, own: object = {}) => ({
  ...expected.domain(world, got, { domain: got?.domain }),
  certificate: expected.refTo(world, '/tls_certificates', world.ids.certificate),
  certificate_management_policy: null,
  certificate_management_status: null,
  ...own,
});

const ofDomains: Row[] = [
  row('POST /reserved_domains', 201, 'createReservedDomain', {
    note: 'with a certificate',
    shape: shapes.domain,
    body: ({ ids }) => ({ domain: covered(), certificate_id: ids.certificate, certificate_management_policy: null }),
    answer: (world, got) => served(world, got),
  }),
  row('PATCH /reserved_domains/{id}', 200, 'updateReservedDomain', {
    note: 'a certificate takes the place of the policy',
    shape: shapes.domain,
    at: withPolicy,
    body: ({ ids }) => ({ certificate_id: ids.certificate }),
    answer: (world, got, _, { id }) => served(world, got, { id }),
  }),
  row('PATCH /reserved_domains/{id}', 200, 'updateReservedDomain', {
    note: 'a policy takes the place of the certificate',
    shape: shapes.domain,
    at: withCertificate,
    body: () => ({ certificate_management_policy: { private_key_type: 'rsa' } }),
    answer: (world, got) => ({
      ...expected.domain(world, got, { domain: got.domain }, expected.time),
      certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'rsa' },
    }),
  }),
  row('PATCH /reserved_domains/{id}', 200, 'updateReservedDomain', {
    note: 'the certificate is cleared',
    shape: shapes.domain,
    at: withCertificate,
    body: () => ({ certificate_id: '' }),
    answer: (world, got) => expected.domain(world, got, { domain: got.domain }, expected.time),
  }),
  row('DELETE /reserved_domains/{id}/certificate', 204, 'deleteReservedDomainCertificate', {
    at: withCertificate,
    isPart: true,
  }),
  row(
    'DELETE /reserved_domains/{id}/certificate_management_policy',
    204,
    'deleteReservedDomainCertificateManagementPolicy',
    { at: withPolicy, isPart: true },
  ),
];

export const certificateRows = [...authorities, ...certificates, ...ofDomains];

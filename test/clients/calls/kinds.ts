// Kinds of objects with the five calls that most of them have. See clients.ts for the words; `{n}` in a sample is a number that
// no other object has.

import type { ClientName, Writing } from './clients.ts';

export interface Kind {
  path: string;
  /** What the path names: something of the world. */
  within?: Record<string, string>;
  /** What an object is found by. */
  key?: string;
  /** The member of the list that holds the objects; none where clients do not list. */
  list?: string;
  /** Clients that have it, where not all do. */
  of?: ClientName[];
  /** Clients that send `filter` with a list. */
  filters?: ClientName[];
  /** What the types of the clients read. */
  shape: string;
  create: Writing;
  /** None where clients send nothing that could change it. */
  update: Writing;
  /** Members that come back otherwise than they were sent, and why that is right. */
  other?: Record<string, string>;
  /** Parts of an object that are removed by themselves. */
  parts?: string[];
  /** Set when there is one of each type only. */
  isSingle?: boolean;
}

export const about = 'id uri created_at description metadata';
export const ref = '{ id uri }';
const go: ClientName[] = ['go'];
export const texts = { description: 'made by a client', metadata: '{"by":"a client"}' };
export const noTexts = { description: '', metadata: '' };
export const changed = { description: 'changed by a client', metadata: '' };
const changeTexts: Writing = { given: [changed] };

const job = '{ error_code? msg started_at retries_at? }';
const domain = {
  path: '/reserved_domains',
  list: 'reserved_domains',
  filters: go,
  shape:
    `${about} domain region cname_target? certificate? ${ref} acme_challenge_cname_target? ` +
    'certificate_management_policy? { authority private_key_type } ' +
    `certificate_management_status? { renews_at? provisioning_job? ${job} }`,
  update: {
    given: [
      { ...changed, certificate_id: '$certificate' },
      { certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'rsa' } },
    ],
  },
  other: { region: 'domains are served in each' },
  parts: ['certificate_management_policy', 'certificate'],
} satisfies Omit<Kind, 'create'>;
const resolvesTo = { resolves_to: [{ value: 'global' }] };

const bots = {
  shape: 'id uri name active! created_at',
  create: { needs: { name: 'bot-{n}' }, given: [{ active: false }] },
  update: { given: [{ name: 'other-bot-{n}', active: true }] },
} satisfies Omit<Kind, 'path'>;

const auth = 'auth { role? { role_arn } creds? { aws_access_key_id aws_secret_access_key? } }';
const azure =
  'tenant_id client_id client_secret logs_ingestion_uri data_collection_rule_id data_collection_stream_name';
const role = { role: { role_arn: 'arn:aws:iam::123456789012:role/delivery' } };
const creds = { creds: { aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE', aws_secret_access_key: 'a-secret' } };
const stream = { stream_arn: 'arn:aws:kinesis:us-east-1:123456789012:stream/events' };
const targets = [
  { datadog: { api_key: 'a-key', ddtags: 'env:test', service: 'gateway', ddsite: 'datadoghq.eu' } },
  { kinesis: { auth: creds, ...stream } },
  { firehose: { auth: role, delivery_stream_arn: 'arn:aws:firehose:us-east-1:123456789012:deliverystream/events' } },
  { cloudwatch_logs: { auth: role, log_group_arn: 'arn:aws:logs:us-east-1:123456789012:log-group:/events:*' } },
  {
    azure_logs_ingestion: {
      ...{ tenant_id: '4f9b3a52-0c1d-4b8e-9c40-0123456789ab', client_id: '9d2c7b61-5a3e-4f70-8b21-ba9876543210' },
      ...{ client_secret: 'a-secret', data_collection_stream_name: 'Custom-Gateway_CL' },
      logs_ingestion_uri: 'https://events-a1b2.westeurope-1.ingest.monitor.azure.com',
      data_collection_rule_id: 'dcr-0123456789abcdef0123456789abcdef',
    },
  },
];

const secret = {
  path: '/vault_secrets',
  list: 'secrets',
  of: ['go', 'python', 'ruby'] as ClientName[],
  filters: go,
  shape:
    `id uri created_at updated_at name description metadata created_by ${ref} last_updated_by ${ref} ` +
    `vault ${ref} vault_name`,
  update: { given: [{ ...changed, name: 'other-{n}', value: 'other' }] },
} satisfies Omit<Kind, 'create'>;

export const endpoint =
  `id region created_at updated_at public_url proto scheme hostport host port# type metadata description ` +
  `domain? ${ref} tcp_addr? ${ref} tunnel? ${ref} edge? ${ref} upstream_url upstream_protocol url principal? ${ref} ` +
  `traffic_policy bindings* tunnel_session? ${ref} uri name pooling_enabled!`;

const otherPolicy = '{"on_http_response":[{"actions":[{"type":"remove-headers","config":{"headers":["x-trace"]}}]}]}';
const policy = '{"on_http_request":[{"actions":[{"type":"deny"}]}]}';

export const kinds: Kind[] = [
  {
    ...{ path: '/api_keys', list: 'keys', filters: go },
    shape: `${about} token? owner_id?`,
    create: { given: [{ ...texts, owner_id: '$bot' }], blank: noTexts },
    update: changeTexts,
  },
  {
    ...{ path: '/credentials', list: 'credentials', filters: go },
    shape: `${about} token? acl* owner_id?`,
    create: {
      given: [{ ...texts, acl: ['bind:*.shop.example.com', 'bind:app=shop'], owner_id: '$bot' }],
      blank: { ...noTexts, acl: [] },
    },
    update: { given: [{ ...changed, acl: ['bind:*.other.example.com'] }] },
  },
  { path: '/bot_users', list: 'bot_users', ...bots },
  { path: '/service_users', list: 'service_users', of: ['go', 'ruby'], filters: go, ...bots },
  {
    ...domain,
    create: {
      needs: { domain: 'N{n}.clients.example.com' },
      given: [
        { ...texts, region: 'us' },
        { certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'ecdsa' } },
        { certificate_id: '$certificate' },
      ],
      blank: { ...noTexts, region: '' },
    },
  },
  {
    ...domain,
    of: go,
    shape: `${domain.shape} resolves_to* { value }`,
    create: { needs: { domain: 'n{n}.clients.example.com' }, given: [resolvesTo] },
    update: { given: [resolvesTo] },
  },
  {
    ...{ path: '/kubernetes_operators', list: 'operators', of: go, filters: go },
    shape:
      `${about} updated_at principal ${ref} enabled_features* region deployment { name namespace version cluster_name } ` +
      'binding? { endpoint_selectors* }',
    create: {
      given: [
        {
          ...{ ...texts, enabled_features: ['ingress', 'gateway'], region: 'eu' },
          deployment: { name: 'operator', namespace: 'tunnels', version: '0.18.0', cluster_name: 'attic' },
        },
      ],
      blank: { ...noTexts, enabled_features: [], region: '', deployment: {}, binding: {} },
    },
    update: { given: [{ ...changed, enabled_features: ['gateway'], deployment: { name: 'other' } }] },
  },
  {
    ...{ path: '/agent_ingresses', list: 'ingresses', filters: go },
    shape:
      `${about} domain ns_targets* region_domains* certificate_management_policy? { authority private_key_type } ` +
      'certificate_management_status? { renews_at? provisioning_job? { error_code? msg started_at retries_at? } }',
    create: {
      needs: { domain: 'n{n}.ingress.example.com' },
      given: [texts, { certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'rsa' } }],
      blank: noTexts,
    },
    update: changeTexts,
  },
  {
    ...{ path: '/reserved_addrs', list: 'reserved_addrs', filters: go },
    shape: `${about} addr region`,
    create: { given: [{ ...texts, region: 'us' }], blank: { ...noTexts, region: '' } },
    update: changeTexts,
    other: { region: 'addresses are where the gateway is' },
  },
  {
    ...{ path: '/certificate_authorities', list: 'certificate_authorities', filters: go },
    shape: `${about} ca_pem subject_common_name not_before not_after key_usages* extended_key_usages*`,
    create: { needs: { ca_pem: '$authorityPem' }, given: [texts], blank: noTexts },
    update: changeTexts,
  },
  {
    ...{ path: '/tls_certificates', list: 'tls_certificates', filters: go },
    shape:
      `${about} certificate_pem subject_common_name subject_alternative_names { dns_names* ips* } issued_at? ` +
      'not_before not_after key_usages* extended_key_usages* private_key_type issuer_common_name serial_number ' +
      'subject_organization subject_organizational_unit subject_locality subject_province subject_country',
    create: {
      needs: { certificate_pem: '$certificatePem', private_key_pem: '$privateKeyPem' },
      given: [texts],
      blank: noTexts,
    },
    update: changeTexts,
  },
  {
    ...{ path: '/ip_policies', list: 'ip_policies', filters: go },
    shape: about,
    create: { given: [texts], blank: noTexts },
    update: changeTexts,
  },
  {
    ...{ path: '/ip_policy_rules', list: 'ip_policy_rules', filters: go },
    shape: `${about} cidr ip_policy ${ref} action`,
    create: {
      needs: { cidr: '2001:DB8:{n}:0::/48', ip_policy_id: '$ipPolicy', action: 'allow' },
      given: [texts],
      blank: noTexts,
    },
    update: { given: [{ ...changed, cidr: '198.51.{n}.0/24' }] },
  },
  {
    ...{ path: '/ip_restrictions', list: 'ip_restrictions', filters: go, isSingle: true },
    shape: `${about} enforced! type ip_policies* ${ref}`,
    create: {
      needs: { type: 'agent', ip_policy_ids: ['$ipPolicy'] },
      given: [{ ...texts, enforced: true }],
      blank: { ...noTexts, enforced: false },
    },
    update: {
      given: [{ ...changed, enforced: false, ip_policy_ids: ['$ipPolicy', '$otherIpPolicy'] }],
      blank: { ip_policy_ids: [] },
    },
  },
  {
    ...{ path: '/event_destinations', list: 'event_destinations', filters: go },
    shape:
      `${about} format target { firehose? { ${auth} delivery_stream_arn } kinesis? { ${auth} stream_arn } ` +
      `cloudwatch_logs? { ${auth} log_group_arn } datadog? { api_key? ddtags? service? ddsite? } ` +
      `azure_logs_ingestion? { ${azure} } }`,
    create: {
      needs: { target: targets[0] },
      given: [{ ...texts, format: 'json' }, ...targets.map((target) => ({ target }))],
      blank: { ...noTexts, format: '' },
    },
    update: { given: [{ ...changed, format: 'json' }, ...targets.slice(1, 3).map((target) => ({ target }))] },
  },
  {
    ...{ path: '/event_subscriptions', list: 'event_subscriptions', filters: go },
    shape: `${about} sources* { type uri } destinations* ${ref}`,
    create: {
      needs: { sources: [{ type: 'tcp_connection_closed.v0' }], destination_ids: ['$destination'] },
      given: [{ ...texts, sources: [{ type: 'ip_policy_created.v0' }, { type: 'domain_created.v0' }] }],
      blank: noTexts,
    },
    update: {
      given: [{ ...changed, sources: [{ type: 'domain_deleted.v0' }], destination_ids: ['$destination'] }],
    },
    other: { sources: 'with the URI of each' },
  },
  {
    path: '/event_subscriptions/{subscription_id}/sources',
    within: { subscription_id: '/event_subscriptions' },
    ...{ key: 'type', list: 'sources', shape: 'type uri', isSingle: true },
    create: { needs: { type: 'ip_policy_deleted.v0' } },
    update: {},
  },
  {
    ...{ path: '/vaults', list: 'vaults', of: ['go', 'python', 'ruby'], filters: go },
    shape: 'id uri created_at updated_at name description metadata created_by last_updated_by',
    create: { needs: { name: 'vault-{n}' }, given: [texts], blank: noTexts },
    update: { given: [{ ...changed, name: 'other-vault-{n}' }] },
  },
  {
    ...secret,
    create: {
      needs: { name: 'secret-{n}', value: 'open sesame', vault_id: '$vault' },
      given: [texts],
      blank: { ...noTexts, vault_name: '' },
      only: { vault_name: ['ruby'] },
    },
  },
  {
    ...secret,
    of: ['go', 'ruby'],
    create: {
      needs: { name: 'secret-{n}', value: 'open sesame', vault_name: 'vault of the world' },
      blank: { ...noTexts, vault_id: '' },
    },
  },
  {
    ...{ path: '/endpoints', list: 'endpoints', of: ['go', 'python', 'ruby'] },
    shape: endpoint,
    create: {
      needs: { url: 'https://E{n}.clients.example.com', type: 'cloud', traffic_policy: policy },
      given: [{ ...texts, bindings: ['public'], pooling_enabled: false }],
      blank: { pooling_enabled: false },
    },
    update: {
      given: [
        { ...changed, traffic_policy: otherPolicy },
        { url: 'https://f{n}.clients.example.com:443/', bindings: ['public'], pooling_enabled: false },
      ],
      blank: { pooling_enabled: false },
    },
  },
];

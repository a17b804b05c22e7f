// The requests of the original's Terraform provider (0.8), whose program is not to be had here: a configuration is applied, planned,
// changed, imported and destroyed. What the provider would find otherwise than it has it, it would change again at each run.

import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { authorityPem, issue } from '../contract/rows/certificates.ts';
import { type Account, sharedGateway } from '../support/gateway/gateway.ts';
import { clients, type Members } from './calls/clients.ts';

/** A type of resource. The provider has two more, of SSH. */
interface ResourceType {
  path: string;
  /** What updates send, of the state: all of it, whatever has changed. */
  updated: readonly string[];
  /** Of what is left out, what is sent all the same. */
  defaults?: Members;
  /** Attributes that hold the ids of what the API shows as a reference, or as several. */
  references?: Record<string, string>;
  /** Attributes that the API never shows, or never again: the state keeps them. */
  secrets?: readonly string[];
  /** Members of the API that are no attributes. */
  hidden?: readonly string[];
}

const TEXTS = ['description', 'metadata'];
const types: Record<string, ResourceType> = {
  agent_ingress: { path: '/agent_ingresses', updated: TEXTS, hidden: ['certificate_management_status'] },
  api_key: { path: '/api_keys', updated: TEXTS, secrets: ['token'] },
  certificate_authority: { path: '/certificate_authorities', updated: TEXTS },
  cloud_endpoint: {
    path: '/endpoints',
    updated: [...TEXTS, 'traffic_policy', 'bindings', 'pooling_enabled'],
    defaults: { bindings: ['public'], pooling_enabled: false },
    references: { domain_id: 'domain' },
    hidden: ['edge', 'tunnel', 'tunnel_session', 'tcp_addr', 'principal', 'updated_at'],
  },
  credential: { path: '/credentials', updated: [...TEXTS, 'acl'], secrets: ['token'] },
  domain: {
    path: '/reserved_domains',
    updated: [...TEXTS, 'certificate_id', 'certificate_management_policy', 'resolves_to'],
    references: { certificate_id: 'certificate' },
    hidden: ['certificate_management_status'],
  },
  event_destination: { path: '/event_destinations', updated: [...TEXTS, 'format', 'target'], secrets: ['target'] },
  event_subscription: {
    path: '/event_subscriptions',
    updated: [...TEXTS, 'sources', 'destination_ids'],
    references: { destination_ids: 'destinations' },
  },
  ip_policy: { path: '/ip_policies', updated: TEXTS },
  ip_policy_rule: {
    path: '/ip_policy_rules',
    updated: [...TEXTS, 'cidr'],
    references: { ip_policy_id: 'ip_policy' },
  },
  ip_restriction: {
    path: '/ip_restrictions',
    updated: [...TEXTS, 'enforced', 'ip_policy_ids'],
    references: { ip_policy_ids: 'ip_policies' },
  },
  secret: {
    path: '/vault_secrets',
    updated: [...TEXTS, 'name', 'value'],
    references: { vault_id: 'vault', created_by: 'created_by', last_updated_by: 'last_updated_by' },
    secrets: ['value'],
    hidden: ['updated_at'],
  },
  service_user: { path: '/service_users', updated: ['name', 'active'] },
  tcp_address: { path: '/reserved_addrs', updated: TEXTS },
  tls_certificate: { path: '/tls_certificates', updated: TEXTS, secrets: ['private_key_pem'] },
  vault: { path: '/vaults', updated: [...TEXTS, 'name'], hidden: ['updated_at'] },
};

/** A resource by its type and name, as `api_key.all`; in what is configured, `$api_key.all.id` is an attribute of another one. */
type Configuration = Record<string, Members>;

const notes = { description: 'by Terraform', metadata: '{"by":"Terraform"}' };
const says = (content: string) =>
  JSON.stringify({ on_http_request: [{ actions: [{ type: 'custom-response', config: { content } }] }] });
const http = { type: 'http_request_complete.v0', fields: ['conn.client_ip', 'http.response.status_code'] };
const rsa = { authority: 'letsencrypt', private_key_type: 'rsa' };
const ecdsa = { authority: 'letsencrypt', private_key_type: 'ecdsa' };
const datadog = { api_key: 'a-key', ddtags: 'env:test', service: 'gateway', ddsite: 'datadoghq.eu' };
const kinesis = {
  auth: { creds: { aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE', aws_secret_access_key: 'a-secret' } },
  stream_arn: 'arn:aws:kinesis:us-east-1:123456789012:stream/events',
};

/** With the fewest attributes, and with all, in the order in which they depend on each other. */
async function configuration(): Promise<Configuration> {
  const { certificate_pem, private_key_pem } = await issue({ names: ['*.terraform.example.com'] });
  const inWindows = (pem: string) => pem.replaceAll('\n', '\r\n');
  return {
    'service_user.all': { name: 'terraform', active: true },
    'api_key.few': {},
    'api_key.all': { ...notes, owner_id: '$service_user.all.id' },
    'credential.few': {},
    'credential.all': {
      ...{ ...notes, acl: ['bind:*.b.example.com', 'bind:a.example.com'], owner_id: '$service_user.all.id' },
    },
    'certificate_authority.few': { ca_pem: await authorityPem() },
    'certificate_authority.all': { ...notes, ca_pem: inWindows(await authorityPem()) },
    'tls_certificate.few': { certificate_pem, private_key_pem },
    'tls_certificate.all': { ...notes, certificate_pem: inWindows(certificate_pem), private_key_pem },
    'domain.few': { domain: 'Few.terraform.example.org' },
    'domain.all': { ...notes, domain: 'all.terraform.example.org', certificate_management_policy: rsa },
    'domain.certificate': { domain: '*.terraform.example.com', certificate_id: '$tls_certificate.all.id' },
    'domain.points': { domain: 'points.terraform.example.org', resolves_to: [{ value: 'global' }] },
    'agent_ingress.all': { ...notes, domain: 'agents.terraform.example.org' },
    'tcp_address.few': {},
    'tcp_address.all': notes,
    'ip_policy.few': {},
    'ip_policy.all': notes,
    'ip_policy_rule.few': { cidr: '2001:DB8:0::/48', ip_policy_id: '$ip_policy.few.id', action: 'allow' },
    'ip_policy_rule.all': { ...notes, cidr: '192.0.2.0/24', ip_policy_id: '$ip_policy.all.id', action: 'deny' },
    'ip_restriction.few': { type: 'agent', ip_policy_ids: ['$ip_policy.few.id'] },
    'ip_restriction.all': {
      ...{ ...notes, type: 'endpoints', enforced: true },
      ip_policy_ids: ['$ip_policy.all.id', '$ip_policy.few.id'],
    },
    'cloud_endpoint.few': { url: 'https://Few.terraform.example.org', traffic_policy: says('few') },
    'cloud_endpoint.all': {
      ...{ ...notes, url: 'http://all.terraform.example.org', traffic_policy: says('all') },
      ...{ bindings: ['public'], pooling_enabled: true },
    },
    'cloud_endpoint.tcp': {
      url: 'tcp://$tcp_address.all.addr',
      traffic_policy: '{"on_tcp_connect":[{"actions":[{"type":"deny"}]}]}',
    },
    'event_destination.few': { format: 'json', target: { datadog: { api_key: 'a-key' } } },
    'event_destination.all': { ...notes, format: 'json', target: { kinesis } },
    'event_subscription.few': {
      sources: [{ type: 'ip_policy_created.v0' }],
      destination_ids: ['$event_destination.few.id'],
    },
    'event_subscription.all': {
      ...{ ...notes, sources: [http, { type: 'domain_created.v0' }, { type: 'api_key_deleted.v0' }] },
      destination_ids: ['$event_destination.all.id', '$event_destination.few.id'],
    },
    'vault.all': { ...notes, name: 'terraform' },
    'secret.all': { ...notes, name: 'password', value: 'open sesame', vault_id: '$vault.all.id' },
  };
}

const others = { description: 'changed', metadata: '' };
/** What is changed of it in place. */
const changes: Configuration = {
  'service_user.all': { name: 'other', active: false },
  'api_key.few': others,
  'credential.few': { acl: ['bind:c.example.com'] },
  'credential.all': { ...others, acl: ['bind:a.example.com', 'bind:*.b.example.com'] },
  'certificate_authority.few': others,
  'tls_certificate.all': others,
  'domain.few': { certificate_management_policy: rsa },
  'domain.all': { ...others, certificate_management_policy: ecdsa },
  'agent_ingress.all': others,
  'tcp_address.few': notes,
  'ip_policy.all': others,
  'ip_policy_rule.few': { cidr: '2001:db8:1:0::/64' },
  'ip_restriction.all': { enforced: false, ip_policy_ids: ['$ip_policy.few.id', '$ip_policy.all.id'] },
  'cloud_endpoint.few': { traffic_policy: says('changed'), pooling_enabled: true },
  'cloud_endpoint.tcp': others,
  'event_destination.all': { ...others, target: { datadog } },
  'event_subscription.all': {
    sources: [{ type: 'api_key_deleted.v0' }, { ...http, fields: ['conn.client_ip'] }],
    destination_ids: ['$event_destination.few.id', '$event_destination.all.id'],
  },
  'secret.all': { ...others, name: 'key', value: 'open barley' },
};

let account: Account;
let wanted: Configuration;
/** What the provider has stored of each resource. */
const state = new Map<string, Members>();

beforeAll(async () => {
  account = await (await sharedGateway()).newAccount();
  wanted = await configuration();
});

const typeOf = (name: string) => types[name.split('.')[0] ?? ''] as ResourceType;

const ask = (method: string, path: string, body?: Members) =>
  account.call(method, path, body, {
    dialect: 'extended',
    headers: { 'content-type': undefined, ...clients.go.headers(body !== undefined) },
  });

/** A configured value, with the attributes of others that it names. */
function filled(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replace(/\$(\w+\.\w+)\.(\w+)/g, (_, name, attribute) => String(state.get(name)?.[attribute]));
  if (Array.isArray(value)) return value.map(filled);
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, it]) => [key, filled(it)]))
    : value;
}

/** What is to be, with what is sent although it was left out. */
const planned = (name: string) => ({ ...typeOf(name).defaults, ...(filled(wanted[name]) as Members) });

/** An answer as attributes. @param before what the state had. */
function attributesOf(name: string, answer: Members, before: Members = {}): Members {
  const { references = {}, secrets = [], hidden = [] } = typeOf(name);
  const idOf = (found: unknown): unknown =>
    Array.isArray(found) ? found.map(idOf) : ((found as Members | null)?.id ?? '');
  const own = Object.entries(answer).filter(
    ([key]) => !hidden.includes(key) && !Object.values(references).includes(key) && !secrets.includes(key),
  );
  const refs = Object.entries(references).map(([attribute, key]) => [attribute, idOf(answer[key])]);
  const kept = secrets.map((key) => [key, before[key] ?? answer[key]]);
  return Object.fromEntries([...own, ...refs, ...kept].map(([key, value]) => [key, asRead(key, value)]));
}

/** Of the sources of a subscription it reads their types, and fields where there are any. */
const asRead = (key: unknown, value: unknown) =>
  key === 'sources'
    ? (value as { type: string; fields?: string[] }[]).map(({ type, fields = [] }) => ({
        type,
        ...(fields.length > 0 && { fields }),
      }))
    : value;

const isReached = (wants: Members, found: Members) =>
  Object.keys(wants).every((key) => isDeepStrictEqual(wants[key], found[key]));

/** Reads all that there is, as each plan begins. @returns what is to be done: `-` is what is gone, `~` what has other attributes. */
async function plan(): Promise<string[]> {
  const actions: string[] = [];
  for (const name of Object.keys(wanted)) {
    const before = state.get(name);
    const answer = await ask('GET', `${typeOf(name).path}/${before?.id}`);
    if (answer.status === 404) {
      state.delete(name);
      actions.push(`- ${name}`);
      continue;
    }
    expect(answer.status, answer.text).toBe(200);
    const found = attributesOf(name, answer.body, before);
    state.set(name, found);
    const wants = planned(name);
    if (!isReached(wants, found)) actions.push(`~ ${name}`);
    // What nobody has changed is as it was: otherwise it would be told of at each run.
    expect(found, name).toEqual(before);
  }
  return actions;
}

/** Creates what is missing, and changes what is otherwise. What is answered has to be what was planned, in each attribute. */
async function apply(): Promise<void> {
  for (const name of Object.keys(wanted)) {
    const { path, updated } = typeOf(name);
    const before = state.get(name);
    const wants = planned(name);
    if (before && isReached(wants, before)) continue;
    const all: Members = { ...before, ...wants };
    const body = Object.fromEntries(
      Object.entries(before ? all : wants).filter(
        ([key, value]) => (!before || updated.includes(key)) && value !== undefined && value !== null,
      ),
    );
    const answer = before ? await ask('PATCH', `${path}/${before.id}`, body) : await ask('POST', path, body);
    expect(answer.status, `${name}: ${JSON.stringify(body)} → ${answer.text}`).toBe(before ? 200 : 201);
    const made = attributesOf(name, answer.body, { ...before, ...wants });
    expect(made, name).toMatchObject(all);
    state.set(name, made);
  }
}

describe('a configuration of all types of resources', () => {
  test('is created, and its plan is empty', async () => {
    expect(Object.keys(wanted)).toHaveLength(31);
    expect(new Set(Object.keys(wanted).map(typeOf)).size).toBe(Object.keys(types).length);
    await apply();
    expect(await plan()).toEqual([]);
  });

  test('is changed in place, and its plan is empty', async () => {
    for (const [name, change] of Object.entries(changes)) wanted[name] = { ...wanted[name], ...change };
    expect((await plan()).sort()).toEqual(
      Object.keys(changes)
        .map((name) => `~ ${name}`)
        .sort(),
    );
    await apply();
    expect(await plan()).toEqual([]);
  });

  test('is created again where others have removed it', async () => {
    const gone = ['cloud_endpoint.few', 'ip_policy_rule.all', 'secret.all'];
    for (const name of gone)
      expect((await ask('DELETE', `${typeOf(name).path}/${state.get(name)?.id}`)).status).toBe(204);
    expect((await plan()).sort()).toEqual(gone.map((name) => `- ${name}`));
    await apply();
    expect(await plan()).toEqual([]);
  });

  test('is imported by its ids', async () => {
    for (const [name, before] of [...state]) {
      const { path, secrets = [] } = typeOf(name);
      const answer = await ask('GET', `${path}/${before.id}`);
      const found = attributesOf(name, answer.body);
      const without = (members: Members) =>
        Object.fromEntries(Object.entries(members).filter(([key]) => !secrets.includes(key)));
      expect(without(found), name).toEqual(without(before));
    }
  });

  test('is destroyed', async () => {
    for (const [name, { id }] of [...state].reverse()) {
      const own = `${typeOf(name).path}/${id}`;
      const answer = await ask('DELETE', own);
      expect(answer.status, `${name}: ${answer.text}`).toBe(204);
      expect((await ask('GET', own)).status).toBe(404);
    }
  });
});

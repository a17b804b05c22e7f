// Where the walk goes: an account, its objects, which are made once, and every documented operation through REST and GraphQL.

import { afterAll, beforeAll, expect } from 'vitest';
import { type Door, graphqlDoor, type Ids, type Operation, type Outcome, operation, rest } from '../contract/doors.ts';
import { authorityPem } from '../contract/rows/certificates.ts';
import { parts } from '../contract/rows/targets.ts';
import { type Account, type Owner, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { goLive, type Live } from './live.ts';
import { type Member, type ObjectName, objects, operations } from './tables.ts';

export const doorNames = ['rest', 'graphql'] as const;
export type DoorName = (typeof doorNames)[number];
export const titleOf = (door: DoorName) => ({ rest: 'REST', graphql: 'GraphQL' })[door];

/** The root field that is the same as a documented operation. */
export const rootFields: Record<string, string> = {
  'POST /credentials': 'createCredential',
  'GET /credentials/{id}': 'credential',
  'GET /credentials': 'credentials',
  'PATCH /credentials/{id}': 'updateCredential',
  'DELETE /credentials/{id}': 'deleteCredential',
  'GET /endpoints': 'endpoints',
  'GET /endpoints/{id}': 'endpoint',
  'PUT /edges/https/{edge_id}/routes/{id}/circuit_breaker': 'replaceHttpsEdgeRouteCircuitBreaker',
  'GET /edges/https/{edge_id}/routes/{id}/circuit_breaker': 'httpsEdgeRouteCircuitBreaker',
  'DELETE /edges/https/{edge_id}/routes/{id}/circuit_breaker': 'deleteHttpsEdgeRouteCircuitBreaker',
  'PUT /edges/tls/{id}/mutual_tls': 'replaceTlsEdgeMutualTls',
  'GET /edges/tls/{id}/mutual_tls': 'tlsEdgeMutualTls',
  'DELETE /edges/tls/{id}/mutual_tls': 'deleteTlsEdgeMutualTls',
  'POST /event_destinations': 'createEventDestination',
  'GET /event_destinations/{id}': 'eventDestination',
  'GET /event_destinations': 'eventDestinations',
  'PATCH /event_destinations/{id}': 'updateEventDestination',
  'DELETE /event_destinations/{id}': 'deleteEventDestination',
  'POST /bot_users': 'createBotUser',
  'POST /reserved_domains': 'createReservedDomain',
};

const objectOfSection: Record<string, ObjectName> = {
  '4.1': 'credential',
  '4.2': 'endpoint',
  '4.3': 'circuitBreaker',
  '4.4': 'mutualTls',
  '4.5': 'eventDestination',
  '4.6': 'botUser',
  '4.7': 'reservedDomain',
};

/** What the specification does not show, and what shows a documented object all the same. */
const besides: [call: string, field: string, object: ObjectName, list?: string][] = [
  ['GET /bot_users/{id}', 'botUser', 'botUser'],
  ['GET /bot_users', 'botUsers', 'botUser', 'bot_users'],
  ['GET /reserved_domains/{id}', 'reservedDomain', 'reservedDomain'],
  ['GET /reserved_domains', 'reservedDomains', 'reservedDomain', 'reserved_domains'],
];

/** Members as a selection, those within others in braces. */
export function shapeOf(members: Member[]): string {
  return members
    .map(({ name, type }) => {
      const inner = type.kind === 'list' ? type.of : type;
      return inner.kind === 'object' ? `${name} { ${shapeOf(inner.members)} }` : name;
    })
    .join(' ');
}

const calls = new Map<string, Operation>([
  ...operations.map(({ section, call, status, list }) => {
    const { members } = objects[objectOfSection[section] as ObjectName];
    const shape = status === 204 ? undefined : shapeOf(members);
    return [call, operation(call, status as Operation['status'], rootFields[call] ?? '', shape, list)] as const;
  }),
  ...besides.map(
    ([call, field, object, list]) =>
      [call, operation(call, 200, field, shapeOf(objects[object].members), list)] as const,
  ),
]);

export interface Asking {
  ids?: Ids;
  body?: object;
  as?: Owner;
  page?: { limit?: unknown; before_id?: string };
}

export let gateway: TestGateway;
export let account: Account;
export let live: Live;
/** What modules are set on, and a certificate authority: made once, for all to use. */
export let route: Ids;
export let tlsEdge: Ids;
export let authority: string;
let doors: Record<DoorName, Door>;

/** Opens an account at the gateway that files share, before the tests of the file that calls this, with what they need. */
export function useWalk(): void {
  beforeAll(async () => {
    gateway = await sharedGateway();
    account = await gateway.newAccount();
    doors = { rest, graphql: await graphqlDoor(account) };
    authority = await create('/certificate_authorities', { ca_pem: await authorityPem() });
    const edge_id = await create('/edges/https', {});
    const routed = { match_type: 'path_prefix', match: '/', circuit_breaker: breaker };
    route = { edge_id, id: await create(`/edges/https/${edge_id}/routes`, routed) };
    const mutual_tls = { certificate_authority_ids: [authority] };
    tlsEdge = { id: await create('/edges/tls', { mutual_tls }) };
    live = await goLive(gateway, account, create);
  });
  afterAll(() => live?.close());
}

/** Asks for a documented operation, as `PATCH /credentials/{id}`, through a door. */
export function ask(door: DoorName, call: string, asking: Asking = {}): Promise<Outcome> {
  const { ids = {}, body, as = account, page } = asking;
  const asked = calls.get(call);
  if (!asked) throw new Error(`the specification has no ${call}`);
  return doors[door](as, asked, ids, body, page);
}

/** The same, for what has to succeed with the documented status. @returns the body. */
// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer, which assertions look into.
export async function done(door: DoorName, call: string, asking?: Asking): Promise<any> {
  const { status, message, body } = await ask(door, call, asking);
  expect(status, `${call}: ${message}`).toBe(calls.get(call)?.status);
  return body;
}

/** Creates through REST what the specification has no operation for. @returns its id. */
export async function create(path: string, body: object): Promise<string> {
  const answer = await account.call('POST', path, body);
  expect(answer.status, `POST ${path}: ${answer.text}`).toBe(201);
  return answer.body.id;
}

export const uri = (path: string) => gateway.api + path;

let made = 0;
/** A text that no other has. */
export const unique = (what: string) => `${what}-${++made}`;

const ofAws = { firehose: parts.deliveryStream, kinesis: parts.stream, cloudwatch_logs: parts.logGroup };
/** One target of each kind, with every member that it may have; for AWS, one for each way to prove oneself. */
export const targets: { title: string; kind: string; by?: 'role' | 'creds'; target: object }[] = [
  ...Object.entries(ofAws).flatMap(([kind, place]) =>
    (['role', 'creds'] as const).map((by) => ({
      title: `${kind} by ${by}`,
      ...{ kind, by, target: { auth: parts[by], ...place } },
    })),
  ),
  { title: 'datadog', kind: 'datadog', target: parts.datadog },
  { title: 'azure_logs_ingestion', kind: 'azure_logs_ingestion', target: parts.azure },
];

export const texts = { description: 'sensor 7 – Küche', metadata: '{"rack":7}' };
export const breaker = {
  enabled: false,
  tripped_duration: 11,
  rolling_window: 12,
  num_buckets: 13,
  volume_threshold: 14,
  error_threshold_percentage: 0.25,
};

/** Bodies with every documented member of a request, by its call. */
const bodies: Record<string, () => Record<string, unknown>> = {
  'POST /credentials': () => ({ ...texts, acl: ['bind:*.example.com'], owner_id: account.ownerId }),
  'PATCH /credentials/{id}': () => ({ ...texts, acl: ['bind:app=*'] }),
  'PUT /edges/https/{edge_id}/routes/{id}/circuit_breaker': () => breaker,
  'PUT /edges/tls/{id}/mutual_tls': () => ({ enabled: false, certificate_authority_ids: [authority] }),
  'POST /event_destinations': () => ({ ...texts, format: 'json', target: { datadog: parts.datadog } }),
  'PATCH /event_destinations/{id}': () => ({
    ...{ ...texts, format: 'json' },
    target: { kinesis: { auth: parts.creds, ...parts.stream } },
  }),
  'POST /bot_users': () => ({ name: unique('robot') }),
  'POST /reserved_domains': () => ({ domain: `${unique('walk')}.example.com`, region: 'eu' }),
};

/** A body for a call, with every member; undefined where it has none. */
export const bodyOf = (call: string) => bodies[call]?.();

/** What was asked once: many look at each answer. */
const answers = new Map<string, Promise<unknown>>();
export function once<T>(key: string, ask: () => Promise<T>): Promise<T> {
  const answer = answers.get(key) ?? ask();
  answers.set(key, answer);
  return answer as Promise<T>;
}

/** What a call with every member was answered, and the body that it had. */
export const fullAnswer = (door: DoorName, call: string) =>
  once(`${door} ${call}`, async () => {
    const body = bodyOf(call);
    return { body, answer: await done(door, call, { ids: await placeOf(call), body }) };
  });

/** What the path of a call names: one object of each kind, for all who do not delete it. */
export async function placeOf(call: string): Promise<Ids> {
  const [, path = ''] = call.split(' ');
  if (!path.includes('{')) return {};
  if (path.endsWith('/circuit_breaker')) return route;
  if (path.endsWith('/mutual_tls')) return tlsEdge;
  if (path === '/endpoints/{id}') return { id: live.ids['https tunnel'] };
  return { id: (await fullAnswer('rest', `POST ${path.replace('/{id}', '')}`)).answer.id };
}

/** A path with what it names. */
export const filled = (path: string, ids: Ids) => path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'x');

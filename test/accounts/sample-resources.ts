// One of everything that an account can hold.

import type { GraphQLInterfaceType } from 'graphql';
import { schema } from '../../src/api/schema.ts';
import { type Event, writeEvent } from '../../src/events/event.ts';
import { newId } from '../../src/store/ids.ts';
import { issue } from '../contract/rows/certificates.ts';
import { bound, nameRequest, newCredential, openSession } from '../support/agents/live.ts';
import { reportOf } from '../support/events/synthetic-report.ts';
import type { Account, TestGateway } from '../support/gateway/gateway.ts';

/** Every kind of thing that has an id, as its look-up is called: `credential`. */
export const kinds = schema
  .getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType)
  .map(({ name }) => name.charAt(0).toLowerCase() + name.slice(1));

/** An account with one of everything. */
export interface Holder {
  account: Account;
  ids: Record<string, string>;
  /** A domain whose names are the account's: it has reserved `*.<zone>`. */
  zone: string;
  /** The name and port that its HTTPS edge answers. */
  hostport: string;
}

const { certificate_pem: certificatePem, private_key_pem: privateKeyPem } = await issue({ names: ['*.example.com'] });

let made = 0;
/** A word of eight letters and digits that no other call gives. */
const fresh = () => `w${String(++made).padStart(7, '0')}`;
export const newZone = () => `${fresh()}.example.com`;

/** A valid input for each `create…` mutation, never the same twice; in an order in which each finds what it names. */
const inputs: Record<string, (holder: Pick<Holder, 'ids' | 'zone'>) => object> = {
  user: () => ({ email: `${fresh()}@example.com`, role: 'admin' }),
  botUser: () => ({ name: fresh() }),
  credential: () => ({ description: fresh(), acl: ['bind:*.example.com', 'bind:app=*'] }),
  apiKey: () => ({ description: fresh() }),
  reservedDomain: () => ({ domain: `${fresh()}.example.com`, description: fresh() }),
  certificateAuthority: () => ({ caPem, description: fresh() }),
  tlsCertificate: () => ({ certificatePem, privateKeyPem, description: fresh() }),
  ipPolicy: () => ({ description: fresh() }),
  ipPolicyRule: ({ ids }) => ({
    ipPolicyId: ids.ipPolicy,
    cidr: `2001:db8:${(++made).toString(16)}::/48`,
    action: 'allow',
  }),
  tunnelGroupBackend: () => ({ labels: { app: fresh() } }),
  eventDestination: () => ({
    description: fresh(),
    target: { datadog: { apiKey: fresh(), ddtags: '', service: 'gateway', ddsite: 'datadoghq.com' } },
  }),
  eventSubscription: ({ ids }) => ({
    // Nobody deletes one here, so that nothing is delivered, and no row changes by itself.
    sources: [{ type: 'bot_user_deleted.v0' }],
    destinationIds: [ids.eventDestination],
  }),
  httpsEdge: ({ ids, zone }) => ({
    hostports: [`${fresh()}.${zone}:443`],
    mutualTls: { certificateAuthorityIds: [ids.certificateAuthority] },
  }),
  httpsEdgeRoute: ({ ids }) => ({
    matchType: 'path_prefix',
    match: `/${fresh()}`,
    backend: { backendId: ids.tunnelGroupBackend },
    circuitBreaker: {},
  }),
  tlsEdge: ({ ids }) => ({
    backend: { backendId: ids.tunnelGroupBackend },
    mutualTls: { certificateAuthorityIds: [ids.certificateAuthority] },
  }),
};

export const creation = (kind: string) => `create${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
const kindOfCreation = new Map(Object.keys(inputs).map((kind) => [creation(kind), kind]));

/** The input of a mutation that creates a thing; undefined for every other operation. */
export function creationInput(field: string, holder: Pick<Holder, 'ids' | 'zone'>): object | undefined {
  const kind = kindOfCreation.get(field);
  return inputs[kind ?? '']?.(holder);
}

/** Creates a thing of an account. @returns its id. */
export async function create(kind: string, holder: Omit<Holder, 'hostport'>, more: object = {}): Promise<string> {
  const field = creation(kind);
  const input = { ...creationInput(field, holder), ...more };
  const ofEdge = kind === 'httpsEdgeRoute';
  const { body } = await holder.account.graphql(
    `mutation ($input: ${field.replace('c', 'C')}Input! ${ofEdge ? '$edgeId: ID!' : ''}) {
      ${field}(input: $input ${ofEdge ? 'edgeId: $edgeId' : ''}) { id }
    }`,
    ofEdge ? { input, edgeId: holder.ids.httpsEdge } : { input },
  );
  if (body.errors) throw new Error(`${field} ${JSON.stringify(input)}: ${JSON.stringify(body.errors)}`);
  return body.data[field].id;
}

/** Gives an account one of everything, once more if it has one already. */
export async function fill(gateway: TestGateway, account: Account): Promise<Holder> {
  const holder: Holder = { account, ids: {}, zone: newZone(), hostport: '' };
  const { ids, zone } = holder;
  for (const kind of Object.keys(inputs))
    ids[kind] = await create(kind, holder, kind === 'reservedDomain' ? { domain: `*.${zone}` } : {});
  const edge = await account.graphql('query ($id: ID!) { httpsEdge(id: $id) { hostports } }', { id: ids.httpsEdge });
  holder.hostport = edge.body.data.httpsEdge.hostports[0];

  // Sessions are registered here without an agent: whatever they are told, they do.
  gateway.app.sessions = { command: async () => 'done' };
  const { accountId } = account;
  ids.tunnelSession = await openSession(gateway, { accountId, credentialId: ids.credential ?? '' });
  const hostname = `${fresh()}.${zone}`;
  const opened = bound(await gateway.registrar.bind(nameRequest(ids.tunnelSession, hostname, { proto: 'https' })));
  const labels = { app: fresh() };
  bound(
    await gateway.registrar.bindLabels({
      sessionId: ids.tunnelSession,
      resume: null,
      labels,
      forwardsTo: '',
      metadata: '',
    }),
  );
  ids.tunnel = opened.tunnelId;
  ids.endpoint = opened.endpointId;

  // Edges are served without an agent, too.
  const ofEdge = { accountId, edgeId: ids.httpsEdge ?? '' };
  ids.servedEndpoint = (await gateway.app.prisma.endpoint.findFirstOrThrow({ where: ofEdge, select: { id: true } })).id;
  ids.capturedRequest = leaveCaptured(gateway, holder);
  ids.offlineEndpoint = await leaveOffline(gateway, account, zone);
  ids.eventDeadLetter = await leaveDeadLetters(gateway, account);

  const missing = kinds.filter((kind) => !ids[kind]);
  if (missing.length > 0) throw new Error(`say in sample-resources.ts how to make: ${missing.join(', ')}`);
  return holder;
}

/** The ids by kind of what `fill` made, without what is there a second time or is in no table. */
export function oneOfEach({
  ids: { servedEndpoint, capturedRequest, ...each },
}: Pick<Holder, 'ids'>): Record<string, string> {
  return each;
}

/** Captures a request to an account's edge, for a name that nothing serves. @returns its id. */
export function leaveCaptured(gateway: TestGateway, { account, ids }: Pick<Holder, 'account' | 'ids'>): string {
  const { captures } = gateway.app.nodeCaptures();
  const { accountId } = account;
  const endpointId = ids.servedEndpoint ?? '';
  captures.start(endpointId, { accountId, ownerId: 'usr_1' }, { bodyBytes: 0, redactHeaders: [], minutes: 60 });
  const detail = captures.observe(endpointId);
  if (detail) detail.isRequestComplete = true;
  const report = reportOf(accountId, ++made);
  const request = { ...report.request, scheme: 'http' } as const;
  captures.take({ ...report, request, tls: undefined, endpointId, observer: detail });
  captures.stop(endpointId);
  return captures.list(endpointId)[0]?.id ?? '';
}

/** Has an agent come and go. @returns the id of the address that it leaves offline. */
async function leaveOffline(gateway: TestGateway, { accountId, call }: Account, zone: string): Promise<string> {
  const sessionId = await openSession(gateway, await newCredential({ accountId, call }));
  const hostname = `${fresh()}.${zone}`;
  bound(await gateway.registrar.bind(nameRequest(sessionId, hostname, { proto: 'https' })));
  await gateway.registrar.sessionClosed(sessionId, 0);
  const where = { accountId, publicUrl: `https://${hostname}` };
  return (await gateway.app.prisma.offlineEndpoint.findFirstOrThrow({ where, select: { id: true } })).id;
}

const refused: Event = {
  ...{ id: newId('ev'), type: 'user_created.v0', at: Date.now() },
  ...{ accountId: newId('ac'), principal: null, object: {} },
};

/** Leaves a dead letter at each event destination of an account, as targets do that refuse an event. @returns the oldest's. */
export async function leaveDeadLetters(gateway: TestGateway, { accountId }: Account): Promise<string> {
  const { prisma } = gateway.app;
  const destinations = await prisma.eventDestination.findMany({ where: { accountId }, orderBy: { id: 'asc' } });
  const letters = destinations.map((destination) => ({
    ...{ id: newId('edl'), accountId, destinationId: destination.id },
    ...{ eventId: refused.id, eventType: refused.type, event: writeEvent(refused) },
    ...{ errorCode: 'HTTP 400', errorMessage: fresh() },
  }));
  await prisma.eventDeadLetter.createMany({ data: letters });
  return letters[0]?.id ?? '';
}

/** Every row of the database but those of nodes, whose leases are renewed all the time; without notes of the last use. */
export async function everyRow({ app: { prisma } }: TestGateway): Promise<string[]> {
  const tables = await prisma.$queryRaw<{ name: string }[]>`
    SELECT table_name::text AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_name NOT IN ('node', '_prisma_migrations') ORDER BY 1`;
  const rows: string[] = [];
  for (const { name } of tables) {
    const ofTable = await prisma.$queryRawUnsafe<{ row: string }[]>(
      `SELECT (to_jsonb(t) - 'last_used_at')::text AS row FROM "${name}" t`,
    );
    rows.push(...ofTable.map(({ row }) => `${name} ${row}`).sort());
  }
  return rows;
}

/** Made for these tests; valid until 2126. */
const caPem = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUFeobxaogR02wP2FC/JkZMQXbhBowCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPVGVzdCBEZXZpY2VzIENBMCAXDTI2MTEyMTEwMDI0OVoYDzIx
MjYxMDI4MTAwMjQ5WjAaMRgwFgYDVQQDDA9UZXN0IERldmljZXMgQ0EwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAASxDYzqJhpD6la4B26TqUg9OsqGvAkhavp0xyRN
kMvzUYnsaRh0XZRGTZM1wAbduQyRvl7W1lItqxXasxLhk2QQo2MwYTAdBgNVHQ4E
FgQUrYKBJMRgI7llI5+EpIyzD78tpMgwHwYDVR0jBBgwFoAUrYKBJMRgI7llI5+E
pIyzD78tpMgwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZI
zj0EAwIDSAAwRQIhANn75mduLO/MYdKdgHNsDgx4NqAjXSiDst5yZy7GwPiMAiBJ
Xn9s4p16dAKXjKQI2LwwOyvz2tZ+VDI4psDuXk8J6w==
-----END CERTIFICATE-----
`;

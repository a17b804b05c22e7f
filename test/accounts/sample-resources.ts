// One of everything that an account can hold.

import type { GraphQLInterfaceType } from 'graphql';
import { payloadOf } from '../../src/api/builder/payloads.ts';
import { schema } from '../../src/api/schema.ts';
import { issue } from '../contract/rows/certificates.ts';
import { bound, nameRequest, openSession } from '../support/agents/live.ts';
import type { Account, TestGateway } from '../support/gateway/gateway.ts';
import { fresh, newZone } from './fresh-names.ts';
import {
  leaveAlert,
  leaveBrowserSession,
  leaveBulkJob,
  leaveCaptured,
  leaveDeadLetters,
  leaveLogged,
  leaveOffline,
  leavePasskey,
  leaveRunning,
  leaveVisitor,
} from './sample-rows.ts';

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

const RESTRICTION_TYPES = ['ENDPOINTS', 'AGENT', 'API', 'DASHBOARD'];
/** How many IP restrictions of an account were made. */
const restrictionsOf = new Map<string, number>();
function nextType(accountId: string): string {
  const count = restrictionsOf.get(accountId) ?? 0;
  restrictionsOf.set(accountId, count + 1);
  return RESTRICTION_TYPES[count % RESTRICTION_TYPES.length] ?? '';
}

/** An account may have one IP restriction of each type. @returns one that is free, if need be by the end of the oldest. */
async function freeType({ account }: Pick<Holder, 'account'>): Promise<string> {
  const { body } = await account.graphql('{ accountIpRestrictions { nodes { id type } } }');
  const taken: { id: string; type: string }[] = body.data.accountIpRestrictions.nodes;
  const free = RESTRICTION_TYPES.find((type) => !taken.some((one) => one.type === type));
  const oldest = taken.at(-1);
  if (free || !oldest) return free ?? '';
  await account.graphql(
    'mutation ($id: ID!) { deleteAccountIpRestriction(id: $id) { deletedAccountIpRestrictionId } }',
    { id: oldest.id },
  );
  return oldest.type;
}

/** A valid input for each `create…` mutation, never the same twice; in an order in which each finds what it names. */
const inputs: Record<string, (holder: Omit<Holder, 'hostport'>) => object> = {
  user: () => ({ email: `${fresh()}@example.com`, role: 'ADMIN' }),
  botUser: () => ({ name: fresh() }),
  credential: () => ({ description: fresh(), acl: ['bind:*.example.com', 'bind:app=*'] }),
  apiKey: () => ({ description: fresh() }),
  provisioningKey: () => ({ description: fresh(), acl: ['bind:{hostname}.example.com'], usesMax: 10 }),
  kubernetesOperator: () => ({ description: fresh(), deployment: { name: fresh() } }),
  reservedDomain: () => ({ domain: `${fresh()}.example.com`, description: fresh() }),
  certificateAuthority: () => ({ caPem, description: fresh() }),
  tlsCertificate: () => ({ certificatePem, privateKeyPem, description: fresh() }),
  ipPolicy: () => ({ description: fresh() }),
  ipPolicyRule: ({ ids }) => ({
    ipPolicyId: ids.ipPolicy,
    cidr: `2001:db8:${Number(fresh().slice(1)).toString(16)}::/48`,
    action: 'ALLOW',
  }),
  // Not enforced, as all of the account's agents and visitors are elsewhere.
  accountIpRestriction: (holder) => ({
    type: nextType(holder.account.accountId),
    ipPolicyIds: [holder.ids.ipPolicy],
    description: fresh(),
  }),
  vault: () => ({ name: fresh() }),
  secret: ({ ids }) => ({ name: fresh(), value: fresh(), vaultId: ids.vault }),
  tunnelGroupBackend: () => ({ labels: { app: fresh() } }),
  weightedBackend: ({ ids }) => ({ backends: { [ids.tunnelGroupBackend ?? '']: 1 } }),
  failoverBackend: ({ ids }) => ({ backends: [ids.tunnelGroupBackend, ids.weightedBackend] }),
  httpResponseBackend: () => ({ body: fresh() }),
  staticBackend: () => ({ address: 'api.example.com:443', description: fresh() }),
  eventDestination: () => ({
    description: fresh(),
    target: { datadog: { apiKey: fresh(), ddtags: '', service: 'gateway', ddsite: 'datadoghq.com' } },
  }),
  alertChannel: () => ({ name: fresh(), kind: 'EMAIL', recipients: [`${fresh()}@example.com`] }),
  // Nothing of an account of these tests is due for that long, so that no alert fires.
  alertRule: ({ ids }) => ({
    name: fresh(),
    condition: 'ENDPOINT_OFFLINE',
    forSeconds: 604_800,
    selector: { credentialIds: [ids.credential] },
    channelIds: [ids.alertChannel],
  }),
  alertSilence: ({ ids }) => ({ ruleId: ids.alertRule, minutes: 60, reason: fresh() }),
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
    matchType: 'PATH_PREFIX',
    match: `/${fresh()}`,
    backend: { backendId: ids.tunnelGroupBackend },
    circuitBreaker: {},
  }),
  endpoint: ({ zone }) => ({ url: `https://${fresh()}.${zone}`, trafficPolicy: '{}' }),
  reservedAddress: () => ({ description: fresh() }),
  agentIngress: () => ({ domain: `${fresh()}.example.com`, description: fresh() }),
  tcpEdge: ({ ids }) => ({ backend: { backendId: ids.tunnelGroupBackend } }),
  tlsEdge: ({ ids }) => ({
    backend: { backendId: ids.tunnelGroupBackend },
    mutualTls: { certificateAuthorityIds: [ids.certificateAuthority] },
  }),
};

/** Of all endpoints, only those without an agent are created. */
export const creation = (kind: string) =>
  kind === 'endpoint' ? 'createCloudEndpoint' : `create${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
const kindOfCreation = new Map(Object.keys(inputs).map((kind) => [creation(kind), kind]));

/** The input of a mutation that creates a thing; undefined for every other operation. */
export function creationInput(field: string, holder: Omit<Holder, 'hostport'>): object | undefined {
  if (field === 'publishEdge')
    return { protocol: 'HTTPS', host: `${fresh()}.${holder.zone}`, labels: { app: fresh() } };
  const kind = kindOfCreation.get(field);
  return inputs[kind ?? '']?.(holder);
}

/** Creates a thing of an account. @returns its id. */
export async function create(kind: string, holder: Omit<Holder, 'hostport'>, more: object = {}): Promise<string> {
  const field = creation(kind);
  const input = { ...creationInput(field, holder), ...more };
  if (kind === 'accountIpRestriction') Object.assign(input, { type: await freeType(holder) });
  const ofEdge = kind === 'httpsEdgeRoute';
  const member = payloadOf(schema.getMutationType()?.getFields()[field])?.member ?? '';
  const { body } = await holder.account.graphql(
    `mutation ($input: ${field.replace('c', 'C')}Input! ${ofEdge ? '$edgeId: ID!' : ''}) {
      ${field}(input: $input ${ofEdge ? 'edgeId: $edgeId' : ''}) { ${member} { id } }
    }`,
    ofEdge ? { input, edgeId: holder.ids.httpsEdge } : { input },
  );
  if (body.errors) throw new Error(`${field} ${JSON.stringify(input)}: ${JSON.stringify(body.errors)}`);
  return body.data[field][member].id;
}

/** Has a session that is registered without an agent do whatever it is told. Others, of a gateway that tests share, hear for themselves. */
function letObey({ app }: Pick<TestGateway, 'app'>, sessionId: string): void {
  const { sessions } = app;
  app.sessions = {
    command: async (id, ...more) => (id === sessionId ? 'done' : sessions.command(id, ...more)),
  };
}

/** Gives an account one of everything, once more if it has one already. */
export async function fill(gateway: TestGateway, account: Account): Promise<Holder> {
  const holder: Holder = { account, ids: {}, zone: newZone(), hostport: '' };
  const { ids, zone } = holder;
  for (const kind of Object.keys(inputs))
    ids[kind] = await create(kind, holder, kind === 'reservedDomain' ? { domain: `*.${zone}` } : {});
  const edge = await account.graphql('query ($id: ID!) { httpsEdge(id: $id) { hostports } }', { id: ids.httpsEdge });
  holder.hostport = edge.body.data.httpsEdge.hostports[0];

  const { accountId } = account;
  ids.tunnelSession = await openSession(gateway, { accountId, credentialId: ids.credential ?? '' });
  letObey(gateway, ids.tunnelSession);
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

  // Edges are served without an agent, too.
  const ofEdge = { accountId, edgeId: ids.httpsEdge ?? '' };
  ids.servedEndpoint = (await gateway.app.prisma.endpoint.findFirstOrThrow({ where: ofEdge, select: { id: true } })).id;
  ids.capturedRequest = leaveCaptured(gateway, holder);
  ids.loggedRequest = await leaveLogged(gateway, holder);
  ids.runningCapture = await leaveRunning(gateway, account);
  ids.passkey = await leavePasskey(gateway, account);
  ids.browserSession = await leaveBrowserSession(gateway, account);
  const newest = { where: { accountId }, orderBy: { id: 'desc' } } as const;
  Object.assign(ids, await leaveVisitor(gateway, account, ids.servedEndpoint));
  ids.auditEntry = (await gateway.app.prisma.auditEntry.findFirstOrThrow(newest)).id;
  const { agentId } = await gateway.app.prisma.tunnelSession.findUniqueOrThrow({ where: { id: ids.tunnelSession } });
  ids.agent = agentId ?? '';
  const naming =
    'mutation ($id: ID!, $name: String!) { updateAgent(id: $id, input: { name: $name }) { agent { id } } }';
  await account.graphql(naming, { id: agentId, name: fresh() });
  ids.offlineEndpoint = await leaveOffline(gateway, account, zone);
  ids.eventDeadLetter = await leaveDeadLetters(gateway, account);
  Object.assign(ids, await leaveAlert(gateway, account, ids.alertChannel ?? ''));
  ids.bulkJob = await leaveBulkJob(gateway, account);

  const missing = kinds.filter((kind) => !ids[kind]);
  if (missing.length > 0) throw new Error(`say in sample-resources.ts how to make: ${missing.join(', ')}`);
  return holder;
}

/** The ids by kind of the nodes that `fill` made, without what is there a second time. */
export function oneOfEach({
  ids: {
    servedEndpoint,
    capturedRequest,
    runningCapture,
    loggedRequest,
    passkey,
    browserSession,
    auditEntry,
    bulkJob,
    ...each
  },
}: Pick<Holder, 'ids'>): Record<string, string> {
  return each;
}

/** Every row of the database but those of leases, which are renewed all the time; without notes of the last use. */
export async function everyRow({ app: { prisma } }: TestGateway): Promise<string[]> {
  const tables = await prisma.$queryRaw<{ name: string }[]>`
    SELECT table_name::text AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT IN (
      'node', 'alert_evaluator', 'traffic_stat', 'traffic_task', '_prisma_migrations'
    ) ORDER BY 1`;
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

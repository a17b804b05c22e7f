// An account that has one of everything, live objects too.

import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { leaveVisitor } from '../accounts/sample-rows.ts';
import { bound, nameRequest, openSession } from '../support/agents/live.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { type Door, graphqlDoor, rest } from './doors.ts';
import { authorityPem, issue, type Pair, sent } from './rows/certificates.ts';
import { parts } from './rows/targets.ts';

export interface World {
  gateway: TestGateway;
  account: Account;
  doors: { rest: Door; graphql: Door };
  /** Ids of the account's objects. */
  ids: Record<Kind, string>;
  caPem: string;
  /** A certificate that covers the world's domain, with its key. */
  server: Pair;
  uri(path: string): string;
  /** Creates something and returns what was answered. */
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer, which assertions look into.
  create(path: string, body: object): Promise<any>;
  close(): Promise<void>;
}

type Kind =
  | 'credential'
  | 'bot'
  | 'apiKey'
  | 'domain'
  | 'address'
  | 'authority'
  | 'certificate'
  | 'ipPolicy'
  | 'ipPolicyRule'
  | 'ipRestriction'
  | 'vault'
  | 'secret'
  | 'appUser'
  | 'appSession'
  | 'backend'
  | 'weightedBackend'
  | 'failoverBackend'
  | 'responseBackend'
  | 'staticBackend'
  | 'httpsEdge'
  | 'route'
  | 'tlsEdge'
  | 'tcpEdge'
  | 'destination'
  | 'subscription'
  | 'session'
  | 'tunnel'
  | 'endpoint'
  | 'labelTunnel';

export const labels = { app: 'shop' };
export const serverNames = ['*.world.example.com', 'shop.example.com', '192.0.2.7', '2001:db8::7'];
export const serverSubject = 'C=DE, ST=Berlin, L=Mitte, O=Shops, OU=Web, CN=Shop of the test';
export const hostname = 'app.world.example.com';

export async function makeWorld(): Promise<World> {
  const gateway = await startTestGateway({
    REGION: 'eu',
    EVENT_WEBHOOK_HOSTS: 'hooks.example.com',
    EVENT_FILE_DIR: await mkdtemp(join(inject('run'), 'events-')),
  });
  // Sessions are registered here without an agent: whatever they are told, they do.
  gateway.app.sessions = { command: async () => 'done' };
  const account = await gateway.newAccount();
  const create: World['create'] = async (path, body) => {
    const answer = await account.call('POST', path, body);
    expect(answer.status, `POST ${path}: ${answer.text}`).toBe(201);
    return answer.body;
  };
  const idOf = async (path: string, body: object) => (await create(path, body)).id as string;

  const caPem = await authorityPem();
  const server = sent(await issue({ names: serverNames, subject: serverSubject }));
  const credential = await idOf('/credentials', { description: 'agent of the world' });
  const destination = await idOf('/event_destinations', { target: { datadog: parts.datadog } });
  const domain = await idOf('/reserved_domains', { domain: '*.world.example.com', region: 'us' });
  const backend = await idOf('/backends/tunnel_group', { labels });
  const httpsEdge = await idOf('/edges/https', { hostports: ['www.world.example.com:443'] });
  const route = await idOf(`/edges/https/${httpsEdge}/routes`, { match_type: 'path_prefix', match: '/' });
  const ipPolicy = await idOf('/ip_policies', { description: 'policy of the world' });
  const vault = await idOf('/vaults', { name: 'vault of the world' });
  const ids = {
    credential,
    destination,
    domain,
    backend,
    weightedBackend: await idOf('/backends/weighted', { backends: { [backend]: 1 } }),
    failoverBackend: await idOf('/backends/failover', { backends: [backend] }),
    responseBackend: await idOf('/backends/http_response', {}),
    staticBackend: await idOf('/backends/static', { address: 'api.example.com:443' }),
    httpsEdge,
    route,
    ipPolicy,
    ipPolicyRule: await idOf('/ip_policy_rules', { ip_policy_id: ipPolicy, cidr: '192.0.2.0/24', action: 'allow' }),
    ipRestriction: await idOf('/ip_restrictions', { type: 'agent', ip_policy_ids: [ipPolicy] }),
    vault,
    secret: await idOf('/vault_secrets', { vault_id: vault, name: 'secret of the world', value: 'open sesame' }),
    certificate: await idOf('/tls_certificates', server),
    bot: await idOf('/bot_users', { name: 'bot of the world' }),
    apiKey: await idOf('/api_keys', { description: 'key of the world' }),
    authority: await idOf('/certificate_authorities', { ca_pem: caPem }),
    tlsEdge: await idOf('/edges/tls', { hostports: ['tls.world.example.com:443'] }),
    address: await idOf('/reserved_addrs', { region: 'us' }),
    tcpEdge: await idOf('/edges/tcp', {}),
    subscription: await idOf('/event_subscriptions', {
      sources: [{ type: 'domain_created.v0' }],
      destination_ids: [destination],
    }),
    ...(await goLive(gateway, account.accountId, credential)),
  };
  const visitor = await leaveVisitor(gateway, account, ids.endpoint);
  return {
    gateway,
    account,
    doors: { rest, graphql: await graphqlDoor(account) },
    ids: { ...ids, ...visitor },
    caPem,
    server,
    uri: (path) => gateway.api + path,
    create,
    close: () => gateway.close(),
  };
}

/** What an agent brings up: one tunnel with an address of its own, and one that backends choose by label. */
async function goLive(gateway: TestGateway, accountId: string, credentialId: string) {
  const { registrar } = gateway;
  const session = await openSession(
    gateway,
    { accountId, credentialId },
    { agentVersion: '3.1.0', ip: '192.0.2.7', metadata: 'of the session' },
  );
  const { tunnelId: tunnel, endpointId: endpoint } = bound(
    await registrar.bind(nameRequest(session, hostname, { proto: 'https', port: 443, metadata: 'of the tunnel' })),
  );
  const { tunnelId: labelTunnel } = bound(
    await registrar.bindLabels({
      sessionId: session,
      resume: null,
      labels: { ...labels, site: 'berlin' },
      forwardsTo: 'http://localhost:3001',
      metadata: '',
    }),
  );
  return { session, tunnel, endpoint, labelTunnel };
}

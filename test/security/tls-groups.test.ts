// The groups of key exchanges that listeners take: none whose handshake costs the thread that serves more than a millisecond.

import { once } from 'node:events';
import { createServer as createHttpsServer, request } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { connect, type EphemeralKeyInfo } from 'node:tls';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiMetrics } from '../../src/api/http/metrics.ts';
import { routes, schema } from '../../src/api/schema.ts';
import { createApi } from '../../src/api/server.ts';
import { createLinkListener } from '../../src/cluster/link-listener.ts';
import { issueNodeIdentity } from '../../src/cluster/node-identity.ts';
import { AcmeChallenges } from '../../src/edge/acme-challenges.ts';
import { AddressDialer } from '../../src/edge/dialing/address-dialer.ts';
import { AcmeHandshakes } from '../../src/edge/tls/acme-handshakes.ts';
import { readFirstBytes } from '../../src/edge/tls/first-bytes.ts';
import { ParameterizedHandshakes } from '../../src/edge/tls/tls-parameters.ts';
import { openOutbound } from '../../src/events/sinks/http/outbound.ts';
import { ReachableHosts } from '../../src/net/reachable-hosts.ts';
import { OutboundHttp } from '../../src/policy/calls/outbound-http.ts';
import { fetchBytes, type StandInServer } from '../../src/policy/keys/fetch-bytes.ts';
import { noopStreamEvents } from '../../src/protocol/mux/mux-stream.ts';
import { CIPHERS, groupsOf } from '../../src/protocol/tls-suites.ts';
import { createAgentListener } from '../../src/tunnel/session/agent-listener.ts';
import { guardedFetch } from '../../src/visitor-sign-in/guarded-fetch.ts';
import { type Edge, startEdge } from '../edge/tls/support.ts';
import { sharedGateway } from '../support/gateway/gateway.ts';
import { type Identity, newIssuer } from '../support/issuer.ts';

const NAME = 'a.tunnel.localhost';
const ACME = ['acme-tls/1'];

/** Where TLS is spoken. */
interface Door {
  port: number;
  servername?: string;
  protocols?: string[];
  /** Whether there is more behind it than the handshake. */
  isServed?: boolean;
}

let edge: Edge;
let identity: Identity;
const doors: Record<string, Door> = {};
const servers: Server[] = [];

/** Listens. @returns the port. */
async function open(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A listener that reads the ClientHello first. @returns its port. */
function peeking(onHello: (raw: Socket, bytes: Buffer) => void): Promise<number> {
  const server = createServer((raw) => {
    raw.on('error', () => {});
    readFirstBytes(raw, (_, bytes) => onHello(raw, bytes));
  });
  return open(server);
}
beforeAll(async () => {
  const issuer = await newIssuer('CN=an authority');
  identity = await issuer.issue({ dns: ['localhost'], purpose: 'server' });
  edge = await startEdge();
  edge.serve(NAME, 1);
  edge.serve('tls.tunnel.localhost', 1, { proto: 'tls' });
  doors['HTTPS, by name'] = { port: edge.port, servername: NAME };
  doors['HTTPS, without a name'] = { port: edge.port };
  doors['TLS endpoints'] = { port: edge.port, servername: 'tls.tunnel.localhost' };
  const onTerms = new ParameterizedHandshakes();
  const acme = new AcmeHandshakes(
    new AcmeChallenges({ find: async () => 'a'.repeat(64), holderOf: async () => undefined }),
  );
  const parameters = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3', clientVerification: 'request' } as const;
  doors['terms of modules and policies'] = {
    port: await peeking((raw, bytes) => {
      onTerms.begin(raw, bytes, { name: NAME, shown: identity, parameters, alpn: undefined }, (tls) => tls.end());
    }),
    servername: NAME,
  };
  doors['challenges of authorities'] = {
    port: await peeking(
      (raw, bytes) => void acme.answer(raw, bytes, { name: NAME, sent: NAME }, { take: (_, begin) => begin() }),
    ),
    servername: NAME,
    protocols: ACME,
  };

  const gateway = await sharedGateway();
  doors.agents = { port: Number(gateway.agent.split(':')[1]), servername: 'localhost' };
  const log = pino({ level: 'silent' });
  const renewals: ((pair: Identity & { notAfter: Date }) => void)[] = [];
  const apiOf = async () => {
    const pair = { ...identity, notAfter: new Date() };
    const tls = { pair, onChange: (onPair: (typeof renewals)[0]) => void renewals.push(onPair), close() {} };
    const metrics = apiMetrics(new Registry());
    const options = { app: gateway.app, schema, routes, log, metrics, isChangeFeedConnected: () => true };
    return open(createApi({ ...options, tls: tls as never }).server as Server);
  };
  doors['the API'] = { port: await apiOf() };
  doors['the API after a renewal'] = { port: await apiOf() };
  renewals[1]?.({ ...identity, notAfter: new Date() });

  const node = await issueNodeIdentity(issuer, 'nd_1');
  const links = () => createLinkListener(node, { counters: { failed: 0 } } as never, () => {});
  doors['links of nodes'] = { port: await open(links().server) };
  const renewed = links();
  renewed.setIdentity(node);
  doors['links of nodes after a renewal'] = { port: await open(renewed.server) };
  const deps = { sessions: { refusals: { add() {} } }, settings: { maxAgents: 10 }, onFailure() {} };
  const agents = createAgentListener(identity, () => undefined, deps as never);
  agents.setIdentity(identity);
  doors['agents after a renewal'] = { port: await open(agents.server), isServed: false };
});

afterAll(async () => {
  for (const server of servers) server.close();
  await edge.close();
});

/** The group that was agreed on, or how the handshake was refused. */
function agree({ port, servername, protocols }: Door, ecdhCurve: string): Promise<string> {
  return new Promise((resolve) => {
    const ALPNProtocols = protocols ?? [];
    const to = { host: '127.0.0.1', port, servername, ALPNProtocols, ciphers: CIPHERS, minVersion: 'TLSv1.3' } as const;
    const socket = connect({ ...to, ecdhCurve, rejectUnauthorized: false });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('close', () => resolve('closed'));
    socket.on('secureConnect', () => {
      resolve((socket.getEphemeralKeyInfo() as EphemeralKeyInfo).name ?? 'a finite field');
      socket.destroy();
    });
  });
}

const served = (door: Door) => door.isServed !== false;

test('no listener takes finite fields, P-521 or X448', async () => {
  const seen: Record<string, string[]> = {};
  for (const [name, door] of Object.entries(doors))
    seen[name] = await Promise.all(
      ['ffdhe2048', 'ffdhe3072:ffdhe8192', 'P-521', 'X448'].map((groups) => agree(door, groups)),
    );
  const refused = expect.stringMatching(/^(ERR_SSL_.*HANDSHAKE_FAILURE|ECONNRESET|closed)$/);
  const each = [refused, refused, refused, refused];
  expect(seen).toEqual(Object.fromEntries(Object.keys(doors).map((name) => [name, each])));
  // A refusal that says nothing has to be one of the group: the same door opens below.
});

test('every listener takes X25519, P-256 and P-384', async () => {
  const seen: Record<string, string[]> = {};
  const taken = Object.entries(doors).filter(([, door]) => served(door));
  for (const [name, door] of taken)
    seen[name] = await Promise.all(['X25519', 'P-256', 'P-384', 'ffdhe8192:P-256'].map((group) => agree(door, group)));
  const each = ['X25519', 'prime256v1', 'secp384r1', 'prime256v1'];
  expect(seen).toEqual(Object.fromEntries(taken.map(([name]) => [name, each])));
});

test('the listener of visitors refuses them after a renewal too', async () => {
  edge.listener.setIdentity(identity);
  expect(await agree({ port: edge.port }, 'ffdhe2048')).not.toBe('a finite field');
  expect(await agree({ port: edge.port }, 'P-384')).toBe('secp384r1');
});

test.each([
  ['3.0.19', 'X25519:P-256:P-384'],
  ['3.4.1', 'X25519:P-256:P-384'],
  ['3.5.0', '?*X25519MLKEM768:?*X25519:P-256:P-384'],
  ['3.5.3', '?*X25519MLKEM768:?*X25519:P-256:P-384'],
  ['4.0.0', '?*X25519MLKEM768:?*X25519:P-256:P-384'],
])('the hybrid group is among them where OpenSSL has it: %s', (openssl, groups) => {
  expect(groupsOf(openssl)).toBe(groups);
});

describe.each([
  ['TLS 1.3', { ecdhCurve: 'ffdhe2048' }, /^ERR_SSL_NO_(SUITABLE|SHARED)_(KEY_SHARE|GROUPS?)$/],
  // The length of its numbers is the server's choice; OpenSSL's own are those of its key.
  [
    'TLS 1.2',
    { maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256', dhparam: 'auto' },
    /^ERR_SSL_NO_SHARED_CIPHER$/,
  ],
] as const)('nobody is told to use a finite field by a server: %s', (_, terms, refusal) => {
  /** How handshakes with the server end. */
  const ends: string[] = [];
  let url: URL;
  let caFile: string;
  beforeAll(async () => {
    caFile = edge.certificates.caFile;
    const own = await (await newIssuer('CN=another')).issue({ dns: ['localhost'], purpose: 'server', rsa: 2048 });
    const server = createHttpsServer({ ...own, ...terms }, (_, response) => response.end('answer'));
    server.on('secureConnection', () => ends.push('agreed'));
    server.on('tlsClientError', ({ code = '' }: NodeJS.ErrnoException) => ends.push(code));
    url = new URL(`https://localhost:${await open(server)}/`);
  });

  const standIn = (): StandInServer => ({
    resolve: (_, __, found) => found(null, [{ address: '127.0.0.1', family: 4 }]),
    port: Number(url.port),
    ca: identity.cert,
  });
  const backend = async (backendCaFile?: string) => {
    const dialer = new AddressDialer({ backendHosts: ['127.0.0.1'], backendCaFile });
    const target = { host: '127.0.0.1', port: Number(url.port), tls: true, protocols: undefined };
    await dialer.open('ac_1', target, noopStreamEvents);
  };
  const delivery = async (eventCaFile?: string) => {
    const settings = { eventEndpoints: { any: url.href }, eventCaFile, eventWebhookHosts: [] };
    const outbound = openOutbound(settings);
    await once(request(url, { agent: outbound.https }).end(), 'error');
    outbound.close();
  };
  const call = async () => {
    const calls = new OutboundHttp({ hosts: new ReachableHosts([], true), standIn: standIn() });
    const sent = { method: 'GET', url, fields: [], body: undefined };
    await calls.send('ac_1', sent, new AbortController().signal);
  };
  test.each<[string, () => Promise<unknown>]>([
    ['a backend at an address', () => backend()],
    ['a backend at an address, with BACKEND_CA_FILE', () => backend(caFile)],
    ['a destination of events', () => delivery()],
    ['a destination of events, with EVENT_CA_FILE', () => delivery(caFile)],
    ['a call of a policy', call],
    [
      'keys',
      () => fetchBytes(url, { type: '*', bytesMax: 9 }, { hosts: new ReachableHosts([], true), standIn: standIn() }),
    ],
    [
      'an identity provider',
      () => guardedFetch(new ReachableHosts([], true), standIn())(url.href, { method: 'GET' } as never),
    ],
  ])('%s', async (_, ask) => {
    ends.length = 0;
    await ask().catch(() => {});
    await expect.poll(() => ends).toEqual([expect.stringMatching(refusal)]);
  });
});

// How long visits took and what agents were refused, as Prometheus collects it. Real listeners, real agents.

import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newCredential, strangeToken } from '../../support/agents/live.ts';
import { type RawAgent, rawAgent } from '../../support/agents/raw-agent.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { listen, startUpstream } from '../../support/events/traffic.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { samples } from '../../support/load/metrics.ts';
import { visit } from '../../support/visit.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ MAX_SESSIONS_PER_ACCOUNT: '2' });
});
afterAll(() => gateway?.close());

const DURATION = 'gateway_visit_duration_seconds';
const FIRST_BYTE = 'gateway_visit_first_byte_seconds';
const REFUSALS = 'gateway_agent_refusals_total';

async function newAgent(): Promise<RawAgent> {
  const { authtoken } = await newCredential(await gateway.newAccount());
  const agent = await rawAgent(gateway);
  expect((await agent.auth(authtoken)).Error).toBe('');
  return agent;
}

/** How many visits of a kind a histogram has counted, in how many seconds. */
async function counted(name: string, kind: string) {
  const { value } = await samples(gateway.admin);
  return { count: value(`${name}_count`, { kind }), sum: value(`${name}_sum`, { kind }) };
}

/** By how much that grows while something is done; once it has grown by so many visits. */
async function growth(name: string, kind: string, visits: number, work: () => Promise<unknown>) {
  const before = await counted(name, kind);
  await work();
  return eventually(async () => {
    const after = await counted(name, kind);
    expect(after.count - before.count, `${name} of ${kind}`).toBe(visits);
    return after.sum - before.sum;
  });
}

/** An upstream that begins its answer after `beginMs`, and ends it `endMs` later. */
async function slowUpstream(beginMs: number, endMs: number): Promise<string> {
  const { url } = await startUpstream((_, response) => {
    setTimeout(() => {
      response.writeHead(200).write('begun');
      setTimeout(() => response.end('ended'), endMs);
    }, beginMs);
  });
  return url;
}

async function served(name: string, upstream: string, kind: 'http' | 'https'): Promise<void> {
  const { authtoken } = await newCredential(await gateway.newAccount());
  const session = await sdkSession(gateway, authtoken);
  const builder = session.httpEndpoint().domain(name);
  await (kind === 'http' ? builder.scheme('http') : builder).listenAndForward(upstream);
}

test('a visit of HTTP/1.1 counts with the time to its first byte and with its whole time', async () => {
  await served('slow.tunnel.localhost', await slowUpstream(120, 200), 'http');
  const come = () => visit('http://slow.tunnel.localhost', gateway.http);
  const first = await growth(FIRST_BYTE, 'http', 1, come);
  expect(first).toBeGreaterThan(0.11);
  const whole = await growth(DURATION, 'http', 2, () => Promise.all([come(), come()]));
  expect(whole).toBeGreaterThan(2 * 0.3);
  // The first byte is not the last one.
  const { sum, count } = await counted(FIRST_BYTE, 'http');
  const all = await counted(DURATION, 'http');
  expect(all.count).toBe(count);
  expect(all.sum - sum).toBeGreaterThan(count * 0.18);
});

test('a visit of HTTP/2 likewise', async () => {
  await served('two.tunnel.localhost', await slowUpstream(120, 200), 'https');
  const session = connectHttp2(`https://${gateway.https}`, { ca: gateway.ca, servername: 'two.tunnel.localhost' });
  onTestFinished(() => session.destroy());
  const come = async () => {
    const stream = session.request({ ':path': '/', ':authority': 'two.tunnel.localhost' });
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe('begunended');
  };
  const first = await growth(FIRST_BYTE, 'https', 1, come);
  expect(first).toBeGreaterThan(0.11);
  const whole = await growth(DURATION, 'https', 1, come);
  expect(whole).toBeGreaterThan(0.3);
});

test('buckets hold what took no longer than their bound, and end with all', async () => {
  const agent = await newAgent();
  await agent.bind('quick.tunnel.localhost');
  await growth(DURATION, 'http', 3, async () => {
    for (let i = 0; i < 3; i++) expect((await visit('http://quick.tunnel.localhost', gateway.http)).status).toBe(200);
  });
  const { series, value } = await samples(gateway.admin);
  const buckets = series(`${DURATION}_bucket`).filter(({ labels }) => labels.kind === 'http');
  const counts = buckets.map((bucket) => bucket.value);
  expect(buckets.map(({ labels }) => Number(labels.le?.replace('+Inf', 'Infinity')))).toEqual(
    buckets.map(({ labels }) => Number(labels.le?.replace('+Inf', 'Infinity'))).toSorted((a, b) => a - b),
  );
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(counts.at(-1)).toBe(value(`${DURATION}_count`, { kind: 'http' }));
  expect(counts.at(-1)).toBeGreaterThanOrEqual(3);
});

test('who asks for what nobody serves is answered, and is no visit', async () => {
  const sum = await growth(DURATION, 'http', 0, async () => {
    expect((await visit('http://nobody.tunnel.localhost', gateway.http)).status).toBe(404);
  });
  expect(sum).toBe(0);
});

test('connections of TCP and TLS count when they end, and what a request was upgraded to as that', async () => {
  const agent = await newAgent();
  const { URL: url } = await agent.bind('', { Proto: 'tcp', Opts: {} });
  const close = async (socket: Socket) => {
    socket.destroy();
    await once(socket, 'close');
  };
  await growth(DURATION, 'tcp', 1, async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    await once(socket, 'connect');
    await close(socket);
  });

  const { authtoken } = await newCredential(await gateway.newAccount());
  const session = await sdkSession(gateway, authtoken);
  const closing = await listen(createServer((socket) => socket.destroy()));
  await session.tlsEndpoint().domain('tls.tunnel.localhost').listenAndForward(closing.replace('http:', 'tcp:'));
  const [host, port] = gateway.https.split(':');
  await growth(DURATION, 'tls', 1, async () => {
    // Its handshake is the affair of whoever is at the other end, who does not care.
    const socket = connectTls({ host, port: Number(port), servername: 'tls.tunnel.localhost' });
    socket.on('error', () => {});
    await new Promise((resolve) => socket.on('close', resolve));
  });

  const { url: upstream, server } = await startUpstream();
  server.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Over\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.resume().on('end', () => socket.end());
  });
  await served('up.tunnel.localhost', upstream, 'http');
  const before = await counted(DURATION, 'http');
  await growth(DURATION, 'http_upgrade', 1, async () => {
    const [host, port] = gateway.http.split(':');
    const socket = connect({ host, port: Number(port) });
    socket.write('GET / HTTP/1.1\r\nHost: up.tunnel.localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    expect(String(await once(socket, 'data'))).toContain('101 Over');
    await close(socket);
  });
  expect((await counted(DURATION, 'http')).count).toBe(before.count);
});

// Who is refused may stay and try again, and is let go after ten seconds.
test('what agents are refused is counted by the reason, and every reason is there from the start', {
  timeout: 60_000,
}, async () => {
  const tooLate = { reason: 'authentication_timeout' };
  const reasons = (await samples(gateway.admin)).series(REFUSALS);
  expect(reasons.length).toBeGreaterThan(30);
  expect(reasons.every(({ labels }) => /^[a-z_0-9]+$/.test(labels.reason ?? ''))).toBe(true);
  const refused = async (work: () => Promise<{ Error?: string } | undefined>) => {
    const before = (await samples(gateway.admin)).series(REFUSALS);
    const reply = await work();
    if (reply) expect(reply.Error).not.toBe('');
    return eventually(async () => {
      const { value } = await samples(gateway.admin);
      const grown = before.filter((one) => value(REFUSALS, one.labels) > one.value).map(({ labels }) => labels.reason);
      const others = grown.filter((reason) => reason !== tooLate.reason);
      expect(others).toHaveLength(1);
      return others[0];
    });
  };

  const stranger = () => rawAgent(gateway);
  const { authtoken, credentialId } = await newCredential(await gateway.newAccount(), {
    acl: ['bind:mine.tunnel.localhost', 'bind:twice.tunnel.localhost'],
  });
  expect(await refused(async () => (await stranger()).auth('nonsense'))).toBe('authtoken_malformed');
  expect(await refused(async () => (await stranger()).auth(strangeToken(credentialId)))).toBe('authtoken_unknown');
  expect(await refused(async () => (await stranger()).call(0, { Version: ['1'], Extra: {} }))).toBe('unknown_version');
  const agents = [await stranger(), await stranger()];
  for (const agent of agents) expect((await agent.auth(authtoken)).Error).toBe('');
  expect(await refused(async () => (await stranger()).auth(authtoken))).toBe('too_many_sessions');
  const [one, two] = agents as [RawAgent, RawAgent];
  expect(await refused(() => one.bind('other.tunnel.localhost'))).toBe('name_denied');
  expect((await one.bind('twice.tunnel.localhost')).Error).toBe('');
  expect(await refused(() => two.bind('twice.tunnel.localhost'))).toBe('in_use');
  expect(await refused(() => one.bind('mine.tunnel.localhost', { Proto: 'gopher' }))).toBe('unknown_protocol');
  expect(await refused(() => one.call(1, { Id: 7 }))).toBe('malformed');

  const [host, port] = gateway.agent.split(':');
  const plain = () => connect({ host, port: Number(port) }).on('error', () => {});
  const tls = async () => {
    const socket = plain();
    socket.end('GET / HTTP/1.1\r\n\r\n').resume();
    await once(socket, 'close');
    return undefined;
  };
  expect(await refused(tls)).toBe('tls_failed');
  await eventually(async () => expect((await samples(gateway.admin)).value(REFUSALS, tooLate)).toBeGreaterThan(0), {
    timeout: 30_000,
  });
});

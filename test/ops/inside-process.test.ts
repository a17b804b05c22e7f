// What is seen from within a gateway's process only. Exceptions that nobody expected: provoked here by breaking a function of Node. And
// what traffic costs in collections of garbage, each of which looks through the whole heap, some 65 MB.

import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Answer, answer } from '../edge/http2/support.ts';
import { type AgentProcess, startAgent } from '../support/agents/agent.ts';
import type { Reply } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { type GatewayProcess, startProcess } from '../support/gateway/process.ts';
import { root } from '../support/root.ts';
import { visit } from '../support/visit.ts';

const MARKER = 'defect-here';
const preload = (file: string) => `--import=${join(root, 'test/support', file)}`;
const UPLOAD_MB = 120;
/** 18 to 23 for 300 MB where V8 decides alone. */
const COLLECTIONS_MAX = 2;
const MB = Buffer.alloc(1024 * 1024);

let gateway: GatewayProcess;
let agent: AgentProcess;
/** What the agent serves, and its local API. */
let served: Served;
beforeAll(async () => {
  gateway = await startProcess({ NODE_OPTIONS: `${preload('defects.mjs')} ${preload('full-collections.mjs')}` });
  const policyFile = join(gateway.place.dataDir, 'no-policy.json');
  await writeFile(policyFile, '{"inbound":[],"outbound":[]}');
  agent = await startAgent({
    authtoken: gateway.authtoken ?? '',
    gateway: gateway.agent,
    caFile: join(gateway.place.dataDir, 'ca.pem'),
    // Where a policy looks at answers, what fails there is answered with 500.
    env: { AGENT_POLICY_FILE: policyFile },
  });
  served = await serve();
}, 60_000);
afterAll(async () => {
  await agent?.remove();
  await gateway?.kill();
  await gateway?.place.remove();
  served?.service.close();
});

test('bytes that pass through an idle gateway do not make it look through its heap', { timeout: 120_000 }, async () => {
  const collections = () => gateway.stdout.filter((line) => line === 'full collection').length;
  const [address = '', port] = gateway.http.split(':');
  const upload = async (megabytes: number) => {
    const headers = { host: new URL(served.url).host, 'content-length': megabytes * MB.length };
    const visit = request({ host: address, port, method: 'POST', path: '/upload', headers });
    const answer = once(visit, 'response');
    await pipeline(Readable.from(Array.from({ length: megabytes }, () => MB)), visit);
    const [response] = await answer;
    expect(await response.setEncoding('utf8').toArray()).toEqual(['received']);
  };
  await upload(20);
  const before = collections();
  process.kill(gateway.pid, 'SIGWINCH');
  await eventually(() => expect(collections()).toBeGreaterThan(before));

  const collected = collections();
  await upload(UPLOAD_MB);
  expect(collections() - collected).toBeLessThanOrEqual(COLLECTIONS_MAX);
});

test('a defect ends the connection that it is about, is logged and counted, and nothing else happens', {
  timeout: 60_000,
}, async () => {
  const { url, local } = served;
  const name = new URL(url).host.split(':')[0] as string;
  const plain = () => visit(url, gateway.http);

  // What a visitor of HTTP/1 sends, in the handler of its socket.
  const neighbour = connect(Number(gateway.http.split(':')[1]), '127.0.0.1');
  onTestFinished(() => void neighbour.destroy());
  await once(neighbour, 'connect');
  const broken = connect(Number(gateway.http.split(':')[1]), '127.0.0.1');
  broken.on('error', () => {}).resume();
  broken.write(`GET / HTTP/1.1\r\nHost: ${MARKER}.tunnel.localhost\r\n\r\n`);
  await new Promise((resolve) => broken.once('close', resolve));
  neighbour.write(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
  expect(String(await once(neighbour, 'data'))).toMatch(/^HTTP\/1.1 200 OK/);

  // What an upstream answers to a visitor of HTTP/2, in the session of the agent that serves all others too.
  const session = await visitHttp2(name);
  const slow = answer(session.request({ ':path': '/slow' }));
  const defect: Answer = await answer(session.request({ ':path': '/defect' }));
  expect(defect.headers[':status'] ?? 502).toBe(502);
  expect((await plain()).status).toBe(200); // It lets the slow one be answered.
  expect(String((await slow).body)).toBe('slow');
  expect((await local('GET', '/tunnels')).body).toHaveLength(2); // The agent's session is the same.

  process.kill(gateway.pid, 'SIGUSR2');
  const defects = async () =>
    /^gateway_defects_total (\d+)$/m.exec(await (await fetch(`${gateway.admin}/metrics`)).text());
  while (Number((await defects())?.[1]) < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  expect((await plain()).status).toBe(200);

  const logged = gateway.stderr.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'uncaught exception');
  expect(logged.map(({ level, err, count }) => [level, err.message, count])).toEqual([
    ['error', 'a defect of the test', 1],
    ['error', 'a defect of the test', 2],
    ['error', 'a defect of nobody', 3],
  ]);
  for (const { err } of logged) expect(err.stack).toMatch(/^\s+at /m);
});

interface Served {
  url: string;
  service: Server;
  local(method: string, path: string, body?: object): Promise<{ status: number; body: Reply }>;
}

/** A service behind the agent, under one name for HTTP and HTTPS. */
async function serve(): Promise<Served> {
  let answerSlow = () => {};
  const service = createServer((request, response) => {
    if (request.url === '/slow') answerSlow = () => response.end('slow');
    else if (request.url === '/defect') response.setHeader('X-Marker', MARKER).end();
    else if (request.url === '/upload') request.resume().on('end', () => response.end('received'));
    else {
      answerSlow();
      response.end('fine');
    }
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const local = async (method: string, path: string, body?: object) => {
    const [, api] = await agent.printed(/^ready api=(\S+)/);
    const headers: Record<string, string> = body ? { 'content-type': 'application/json' } : {};
    const found = await fetch(`${api}${path}`, { method, headers, body: body && JSON.stringify(body) });
    return { status: found.status, body: (await found.json()) as Reply };
  };
  const forwardsTo = `127.0.0.1:${(service.address() as AddressInfo).port}`;
  const { body: http } = await local('POST', '/tunnels', { protocol: 'http', forwards_to: forwardsTo, domain: null });
  const domain = new URL(http.url).hostname;
  const https = await local('POST', '/tunnels', { protocol: 'https', forwards_to: forwardsTo, domain });
  expect(https.status).toBe(200);
  return { url: http.url, service, local };
}

async function visitHttp2(servername: string) {
  const ca = await readFile(join(gateway.place.dataDir, 'ca.pem'), 'utf8');
  const [host, port] = gateway.https.split(':');
  const socket = connectTls({ host, port: Number(port), ca, servername, ALPNProtocols: ['h2'] });
  const session = connectHttp2(`https://${servername}:${port}`, { createConnection: () => socket });
  session.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(session, 'connect');
  return session;
}

// Exceptions that nobody expected: provoked here by breaking a function of Node within the gateway's process.

import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { type Answer, answer } from '../../edge/http2/support.ts';
import { startAgent } from '../../support/agents/agent.ts';
import { type GatewayProcess, startProcess } from '../../support/gateway/process.ts';
import { root } from '../../support/root.ts';
import { visit } from '../../support/visit.ts';

const MARKER = 'defect-here';
const PRELOAD = join(root, 'test/support/defects.mjs');

test('a defect ends the connection that it is about, is logged and counted, and nothing else happens', {
  timeout: 60_000,
}, async () => {
  const gateway = await startProcess({ NODE_OPTIONS: `--import=${PRELOAD}` });
  onTestFinished(async () => {
    await gateway.kill();
    await gateway.place.remove();
  });
  const { url, local } = await serve(gateway);
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
  const session = await visitHttp2(gateway, name);
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

/** A service behind an agent, under one name for HTTP and HTTPS. */
async function serve(gateway: GatewayProcess) {
  let answerSlow = () => {};
  const service = createServer((request, response) => {
    if (request.url === '/slow') answerSlow = () => response.end('slow');
    else if (request.url === '/defect') response.setHeader('X-Marker', MARKER).end();
    else {
      answerSlow();
      response.end('fine');
    }
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void service.close());
  const { dataDir } = gateway.place;
  // Where a policy looks at answers, what fails there is answered with 500.
  const policyFile = join(dataDir, 'no-policy.json');
  await writeFile(policyFile, '{"inbound":[],"outbound":[]}');
  const agent = await startAgent({
    authtoken: gateway.authtoken ?? '',
    gateway: gateway.agent,
    caFile: join(dataDir, 'ca.pem'),
    env: { AGENT_POLICY_FILE: policyFile },
  });
  onTestFinished(() => agent.remove());
  const local = async (method: string, path: string, body?: object) => {
    const [, api] = await agent.printed(/^ready api=(\S+)/);
    const headers: Record<string, string> = body ? { 'content-type': 'application/json' } : {};
    const found = await fetch(`${api}${path}`, { method, headers, body: body && JSON.stringify(body) });
    return { status: found.status, body: await found.json() };
  };
  const forwardsTo = `127.0.0.1:${(service.address() as AddressInfo).port}`;
  const { body: http } = await local('POST', '/tunnels', { protocol: 'http', forwards_to: forwardsTo, domain: null });
  const domain = new URL(http.url).hostname;
  const https = await local('POST', '/tunnels', { protocol: 'https', forwards_to: forwardsTo, domain });
  expect(https.status).toBe(200);
  return { url: http.url as string, local };
}

async function visitHttp2(gateway: GatewayProcess, servername: string) {
  const ca = await readFile(join(gateway.place.dataDir, 'ca.pem'), 'utf8');
  const [host, port] = gateway.https.split(':');
  const socket = connectTls({ host, port: Number(port), ca, servername, ALPNProtocols: ['h2'] });
  const session = connectHttp2(`https://${servername}:${port}`, { createConnection: () => socket });
  session.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(session, 'connect');
  return session;
}

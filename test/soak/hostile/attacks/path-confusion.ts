// Paths that servers read differently, at a name of the tenant whose policy guards /admin, over HTTP/1.1 and HTTP/2.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '../../../../agent/src/client/index.ts';
import type { Attack, Counts, Target } from '../attack.ts';

const EVERY_MS = 250;
const TARGETS = [
  '//admin/x',
  '///admin',
  '/%2fadmin/x',
  '/%5cadmin/x',
  '/\\admin/x',
  '/pub/..%2fadmin/x',
  '/pub/..%5Cadmin/x',
  '/pub/%2e%2e%2fadmin',
  '/pub%2f..%2fadmin',
  '/pub//../admin',
  '/%61dmin/x',
  '/pub/../admin',
  '/%c0%afadmin',
  '/pub/%c0%ae%c0%ae/admin',
  '/admin%00',
];
const POLICY = {
  on_http_request: [{ expressions: ["req.url.path.startsWith('/admin')"], actions: [{ type: 'deny' }] }],
};

/** What an origin has that merges slashes and decodes everything, as common ones do. */
async function startOrigin(counts: Counts) {
  const server = createServer((asked, response) => {
    const isHonest = asked.url === '/pub/honest';
    counts[isHonest ? 'honest' : 'reached'] = (counts[isHonest ? 'honest' : 'reached'] ?? 0) + 1;
    response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function overHttp1({ https, ca }: Target, name: string, path: string): Promise<number> {
  const [host, port] = https.split(':');
  return new Promise((resolve) => {
    const asked = request({ host, port, path, ca, servername: name, headers: { host: name }, agent: false });
    asked.on('error', () => resolve(0));
    asked.on('response', (response) => response.resume().on('close', () => resolve(response.statusCode ?? 0)));
    asked.end();
  });
}

/** @returns the statuses of all, over one connection. */
async function overHttp2({ https, ca }: Target, name: string): Promise<number[]> {
  const session = connectHttp2(`https://${https}`, { ca, servername: name });
  session.on('error', () => {});
  const ask = (path: string) =>
    new Promise<number>((resolve) => {
      const stream = session.request({ ':path': path, ':authority': name });
      stream.on('response', ({ ':status': status }) => resolve(status ?? 0));
      stream.on('error', () => resolve(0));
      stream.on('close', () => resolve(0));
      stream.resume();
    });
  const statuses = await Promise.all(TARGETS.map(ask));
  session.destroy();
  return statuses;
}

async function run(target: Target, signal: AbortSignal): Promise<Counts> {
  const counts: Counts = { sent: 0, refused: 0, unanswered: 0, reached: 0, honest: 0 };
  const server = await startOrigin(counts);
  const name = `path-confusion-${process.pid}.${target.baseDomain}`;
  const [host = '', port] = target.agent.split(':');
  const client = createClient({
    authtoken: target.tenant.authtoken,
    gateways: [{ host, port: Number(port) }],
    legs: 1,
    ca: target.ca,
    identity: null,
    metadata: '',
    self: { deviceId: '', name: '', labels: {} },
    addresses: async () => ['127.0.0.1'],
    commands: { stop: () => null, restart: () => null, update: () => null },
    onChange: () => {},
    onIdentity: () => {},
    log: () => {},
  });
  const forwardsTo = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const policy = JSON.stringify(POLICY);
  const wanted = { protocol: 'https', domain: name, policy, forwardsTo, metadata: '', resume: null } as const;
  const tell = (status: number) => {
    const key = status === 0 ? 'unanswered' : 'refused';
    counts.sent = (counts.sent ?? 0) + 1;
    if (status === 0 || (status >= 400 && status < 500)) counts[key] = (counts[key] ?? 0) + 1;
  };
  try {
    await client.open(wanted).answered;
    for (let round = 0; !signal.aborted; round++) {
      await overHttp1(target, name, '/pub/honest');
      if (round % 4 === 0) for (const status of await overHttp2(target, name)) tell(status);
      else tell(await overHttp1(target, name, TARGETS[round % TARGETS.length] as string));
      await pause(EVERY_MS, undefined, { signal }).catch(() => {});
    }
  } finally {
    await client.close();
    server.close();
  }
  return counts;
}

/** `reached` must be 0, and `honest` must not. */
export const attack: Attack = { name: 'B8 paths that servers read differently', run };

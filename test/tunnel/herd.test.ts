// Many agents at once: they get in, in order, whatever others do; and who cannot be served now is told when to come back.
// `npm run soak -- herd` is the long round of it.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { StreamType } from '../../src/protocol/index.ts';
import { listen } from '../agent/client/peer.ts';
import { HerdAgent } from '../support/agents/herd-agent.ts';
import { newCredential, type TestCredential } from '../support/agents/live.ts';
import { codeOf, type Reply, rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

/** More than may be worked on at once, and more than an address may have of connections that say nothing. */
const HERD = 700;
const TURNS = 256;
/** What an address begins with. */
const FIRST_TURNS = 32;
/** A busy machine is no failure. */
const LONG_MS = 180_000;
const BUSY = 90364;

let gateway: TestGateway;
let credential: TestCredential;
beforeAll(async () => {
  gateway = await startTestGateway();
  credential = await newCredential(await gateway.newAccount());
});
afterAll(() => gateway?.close());

test(`${HERD} agents that come from one address at once all get in, and none of them has to try twice`, {
  timeout: LONG_MS,
}, async () => {
  const [host = '', port] = gateway.agent.split(':');
  const target = { host, port: Number(port), ca: gateway.ca, authtoken: credential.authtoken };
  const failures: string[] = [];
  let online = 0;
  const events = {
    onOnline: () => void online++,
    onLost: (why: string) => void failures.push(why),
    onFailed: (step: string, why: string) => void failures.push(`${step}: ${why}`),
  };
  const patience = { connect: LONG_MS, auth: LONG_MS, bind: LONG_MS };
  const herd = Array.from(
    { length: HERD },
    (_, i) => new HerdAgent(target, `herd-${i}.tunnel.localhost`, 'impolite', events, patience),
  );
  onTestFinished(async () => {
    for (const agent of herd) agent.stop();
    await eventually(
      () => expect(gateway.logs.filter((line) => line.includes('agent disconnected'))).toHaveLength(online),
      {
        timeout: 30_000,
      },
    );
  });
  for (const agent of herd) agent.start();
  await eventually(() => expect([online, ...failures.slice(0, 3)]).toEqual([HERD]), {
    timeout: LONG_MS,
    interval: 100,
  });
});

test('who begins a handshake and lets the gateway wait does not hold up others, of whatever address', {
  timeout: LONG_MS,
}, async () => {
  const hello = await clientHello();
  const closed: Socket[] = [];
  for (const localAddress of ['127.0.0.2', '127.0.0.3']) await stallers(TURNS, localAddress, hello, closed);
  await stallers(FIRST_TURNS + 8, '127.0.0.1', hello, closed); // Where the agent comes from, too.
  const agent = await rawAgent(gateway);
  expect((await agent.auth(credential.authtoken)).Error).toBe('');
  expect((await agent.bind('unhindered.tunnel.localhost')).Error).toBe('');
  // It was not for their end that it had to wait.
  expect(closed).toHaveLength(0);
});

test('of binds that are too many to be decided soon each is told when to ask again, and then it is served', {
  timeout: LONG_MS,
}, async () => {
  const { authtoken } = await newCredential(await gateway.newAccount());
  const agents = await Promise.all(Array.from({ length: 3 }, () => rawAgent(gateway)));
  for (const agent of agents) expect((await agent.auth(authtoken)).Error).toBe('');
  const refused: { reply: Reply; again(): Promise<Reply> }[] = [];
  let served = 0;
  const binding = await gateway.app.prisma.$transaction(async () => {
    // The embedded database does one transaction at a time: no bind is decided before this one is over.
    const all = agents.flatMap((agent, a) =>
      Array.from({ length: 720 }, async (_, i) => {
        const again = () => agent.call(StreamType.BIND, bindOf(`many-${a}-${i}.tunnel.localhost`));
        const reply = await again();
        if (reply.Error) refused.push({ reply, again });
        else served++;
      }),
    );
    await eventually(() => expect(refused.length).toBeGreaterThanOrEqual(3 * 720 - 2050));
    return { all };
  });
  await Promise.all(binding.all);
  expect(refused.length + served).toBe(3 * 720);
  expect(refused.map(({ reply }) => codeOf(reply))).toContain(BUSY);
  for (const { reply } of refused) {
    expect(reply.RetryAfter).toBeGreaterThanOrEqual(1);
    expect(reply.RetryAfter).toBeLessThanOrEqual(30);
  }
  expect((await refused[0]?.again())?.Error).toBe('');
});

const bindOf = (name: string) => ({ Id: '', Proto: 'http', Opts: { Hostname: name }, Extra: {} });

/** What TLS begins with. */
async function clientHello(): Promise<Buffer> {
  const server = createServer();
  const port = await listen(server);
  const client = connectTls({ host: '127.0.0.1', port }).on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  server.close();
  return bytes;
}

/** Connections that say no more than the beginning of a handshake. */
async function stallers(count: number, localAddress: string, hello: Buffer, closed: Socket[]): Promise<void> {
  const [host, port] = gateway.agent.split(':');
  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ host, port: Number(port), localAddress });
    return socket
      .on('error', () => {})
      .on('close', () => closed.push(socket))
      .resume();
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write(hello);
}

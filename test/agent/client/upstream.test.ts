import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ErrorCode, StreamType } from '../../../src/protocol/index.ts';
import { certificate, listen, startServer } from './peer.ts';
import { type Forwarding, loopback, resetOf, startForwarding } from './visits.ts';

let on: Forwarding;
beforeAll(async () => {
  on = await startForwarding(1000);
});
afterAll(() => on.close());

test('an upstream that refuses is told as refused', async () => {
  const { port, server } = await startServer(() => {});
  server.close();
  const { tunnel, id } = await on.tunnelTo(`127.0.0.1:${port}`);
  expect(await resetOf((events) => on.session.visit(id, events))).toBe(ErrorCode.REFUSED);
  expect(await resetOf((events) => on.session.visit(id, events))).toBe(ErrorCode.REFUSED);
  expect(tunnel.counters).toMatchObject({ connections: 2, openConnections: 0, dialFailures: 2 });
  const logged = on.agent.logs.filter(({ details }) => details?.to === `127.0.0.1:${port}` && details.reason);
  expect(logged).toMatchObject([{ level: 'warn', details: { reason: /ECONNREFUSED/ } }]);
});

test('where the agent may not go, no connection is made', async () => {
  let connections = 0;
  const port = await on.upstream(() => connections++);
  const asked: unknown[] = [];
  on.addresses = async (...place) => {
    asked.push(place);
    return [];
  };
  const { tunnel, id } = await on.tunnelTo(`127.0.0.1:${port}`);
  expect(await resetOf((events) => on.session.visit(id, events))).toBe(ErrorCode.REFUSED);
  on.addresses = loopback;
  expect(asked).toEqual([['127.0.0.1', port]]);
  expect(connections).toBe(0);
  expect(tunnel.counters.dialFailures).toBe(1);
});

test.each([
  ['may be gone to', () => new Promise<string[]>(() => {})],
  ['fails to be found out', () => Promise.reject(new Error('no resolver'))],
])('a place of which it is never known whether it %s is refused', async (_, answer) => {
  const { id } = await on.tunnelTo('127.0.0.1:9');
  on.addresses = answer;
  expect(await resetOf((events) => on.session.visit(id, events))).toBe(ErrorCode.REFUSED);
  on.addresses = loopback;
});

test('a visitor who leaves before the upstream has accepted leaves nothing behind', async () => {
  let connections = 0;
  const port = await on.upstream(() => connections++);
  let allow = (_: string[]) => {};
  const asked = new Promise<void>((seen) => {
    on.addresses = () => {
      seen();
      return new Promise((resolve) => (allow = resolve));
    };
  });
  const { tunnel, id } = await on.tunnelTo(`127.0.0.1:${port}`);
  const stream = on.session.visit(id);
  await asked;
  stream.reset();
  await on.session.command(StreamType.RESTART, {});
  allow(['127.0.0.1']);
  on.addresses = loopback;
  await on.session.command(StreamType.RESTART, {});
  expect(connections).toBe(0);
  expect(tunnel.counters).toMatchObject({ connections: 1, openConnections: 0, dialFailures: 0 });
});

test.each(['https', 'tls'] as const)(
  '%s speaks TLS to an upstream on the machine, whoever signed it',
  async (scheme) => {
    const { cert, key } = await certificate('camera.test', '192.0.2.7');
    const server = createTlsServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket: TLSSocket) => {
      socket.end(`${socket.alpnProtocol} ${socket.servername}`);
    });
    on.servers.push(server);
    const port = await listen(server);
    const byName = await on.tunnelTo(`${scheme}://localhost:${port}`);
    const alpn = scheme === 'https' ? 'http/1.1' : 'false';
    expect((await byName.visit().all).toString()).toBe(`${alpn} localhost`);
    const byAddress = await on.tunnelTo(`${scheme}://127.0.0.1:${port}`);
    expect((await byAddress.visit().all).toString()).toBe(`${alpn} false`);
  },
);

test('an upstream elsewhere needs a certificate that is trusted', async () => {
  const { cert, key } = await certificate('127.1', '127.0.0.1');
  const server = createTlsServer({ cert, key }, (socket) => socket.end('secret'));
  on.servers.push(server);
  // A name as far as anybody can tell by looking, and an address to the resolver.
  const { id, tunnel } = await on.tunnelTo(`https://127.1:${await listen(server)}`);
  expect(await resetOf((events) => on.session.visit(id, events))).toBe(ErrorCode.REFUSED);
  expect(tunnel.counters.dialFailures).toBe(1);
  expect(on.agent.logs.at(-1)?.details?.reason).toMatch(/self-signed/);
});

test('an upstream that accepts and says nothing in TLS is given up', async () => {
  const port = await on.upstream(() => {});
  const { id, tunnel } = await on.tunnelTo(`tls://127.0.0.1:${port}`);
  expect(await resetOf((events) => on.session.visit(id, events))).toBe(ErrorCode.REFUSED);
  expect(tunnel.counters.dialFailures).toBe(1);
});

test('the connection goes to an address that was allowed, whatever the name leads to by then', async () => {
  const port = await on.upstream((socket) => socket.end('here'));
  const asked: string[] = [];
  on.addresses = async (host) => {
    asked.push(host);
    return ['127.0.0.1'];
  };
  const { visit } = await on.tunnelTo(`no-such-name.invalid:${port}`);
  expect((await visit().all).toString()).toBe('here');
  expect(asked).toEqual(['no-such-name.invalid']);
  on.addresses = loopback;
});

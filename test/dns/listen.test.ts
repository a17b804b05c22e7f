// Where the responder listens, and how it ends.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { NameContent } from '../../src/dns/zone-names.ts';
import { freePort } from '../../src/net/free-port.ts';
import { query, readAnswer, TcpClient, UdpClient } from '../support/dns/client.ts';
import { startResponder, type TestResponder } from '../support/dns/responder.ts';

const LOOPBACK = '127.0.0.1';
const SOA = query('tunnel.test', 'SOA');
/** More than any test takes. */
const DRAIN_MS = 30_000;

let server: TestResponder;
afterEach(() => server.close());

/** Asks over both transports. @returns the codes of the answers. */
async function askBoth(port: number, host: string): Promise<number[]> {
  const udp = new UdpClient(port, host);
  const tcp = await TcpClient.connect(port, host);
  const answers = [await udp.ask(SOA), await tcp.ask(SOA)];
  udp.close();
  tcp.close();
  return answers.map(({ code }) => code);
}

test.each([
  ['127.0.0.1', ['127.0.0.1']],
  ['::1', ['::1']],
  ['0.0.0.0', ['127.0.0.1']],
  ['::', ['127.0.0.1', '::1']],
])('at %s it is asked over UDP and TCP', async (host, from) => {
  server = await startResponder({ host });
  for (const address of from) expect(await askBoth(server.port, address)).toEqual([0, 0]);
});

test('it may listen at several addresses, and limits all together', async () => {
  server = await startResponder({ limits: { connections: 1 } });
  const { port } = await server.responder.listen(0, '127.0.0.2');
  expect(await askBoth(port, '127.0.0.2')).toEqual([0, 0]);
  expect(await askBoth(server.port, LOOPBACK)).toEqual([0, 0]);
  await server.close();
  await expect(TcpClient.connect(port, '127.0.0.2')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('where UDP is taken it does not listen over TCP either', async () => {
  server = await startResponder();
  const taken = createSocket('udp4');
  // Of those that the system gives for UDP, one may be taken for TCP.
  const port = await freePort(LOOPBACK);
  taken.bind(port, LOOPBACK);
  await once(taken, 'listening');
  await expect(server.responder.listen(port, LOOPBACK)).rejects.toMatchObject({ code: 'EADDRINUSE', syscall: 'bind' });
  await expect(TcpClient.connect(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  taken.close();
  await once(taken, 'close');
  await server.responder.listen(port, LOOPBACK);
  expect(await askBoth(port, LOOPBACK)).toEqual([0, 0]);
});

test('where TCP is taken it does not listen over UDP either', async () => {
  server = await startResponder();
  const taken = createServer().listen(0, LOOPBACK);
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  await expect(server.responder.listen(port, LOOPBACK)).rejects.toMatchObject({
    code: 'EADDRINUSE',
    syscall: 'listen',
  });
  const udp = createSocket('udp4').bind(port, LOOPBACK);
  await once(udp, 'listening');
  udp.close();
  taken.close();
});

test('clients that are gone when their answer comes end nothing', async () => {
  let release = () => {};
  const gone = new Promise<NameContent>((resolve) => {
    release = () => resolve({ kind: 'none' });
  });
  server = await startResponder({ find: () => gone });
  for (let i = 0; i < 20; i++) {
    const udp = new UdpClient(server.port);
    udp.send(query(`n${i}.tunnel.test`, 'A'));
    await expect.poll(() => server.asked.length).toBe(i + 1);
    udp.close();
  }
  release();
  await expect.poll(() => server.responder.counters.answers.udp.NXDOMAIN).toBe(20);
  expect(await askBoth(server.port, LOOPBACK)).toEqual([0, 0]);
  expect(server.logged).toEqual([]);
});

test('when it closes, questions that came are answered, and no others', async () => {
  let release = () => {};
  const content = new Promise<NameContent>((resolve) => {
    release = () => resolve({ kind: 'none' });
  });
  server = await startResponder({ find: () => content });
  const udp = new UdpClient(server.port);
  const tcp = await TcpClient.connect(server.port);
  const idle = await TcpClient.connect(server.port, LOOPBACK, { allowHalfOpen: true });
  await idle.ask(SOA);
  udp.send(query('a.tunnel.test', 'A'));
  tcp.send(query('b.tunnel.test', 'A'));
  await expect.poll(() => server.asked.length).toBe(2);
  const closed = server.responder.close(DRAIN_MS);
  const idleEnds = once(idle.socket, 'end');
  idle.discard();
  await idleEnds;
  idle.send(query('d.tunnel.test', 'A'));
  idle.socket.end();
  await idle.closed;
  await expect(TcpClient.connect(server.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  udp.send(query('c.tunnel.test', 'A', { id: 2 }));
  release();
  expect(readAnswer(await udp.next()).code).toBe(3);
  expect(readAnswer(await tcp.next()).code).toBe(3);
  tcp.discard();
  await closed;
  expect(server.asked.sort()).toEqual(['a.tunnel.test', 'b.tunnel.test']);
  udp.close();
});

test('when it has no more time, it closes without answering', async () => {
  let release = () => {};
  const content = new Promise<NameContent>((resolve) => {
    release = () => resolve({ kind: 'none' });
  });
  server = await startResponder({ find: () => content });
  const udp = new UdpClient(server.port);
  const tcp = await TcpClient.connect(server.port);
  udp.send(query('a.tunnel.test', 'A'));
  tcp.send(query('b.tunnel.test', 'A'));
  await expect.poll(() => server.asked.length).toBe(2);
  await server.responder.close(0);
  await tcp.closed;
  release();
  await expect.poll(() => server.responder.counters.answers.udp.NXDOMAIN).toBe(1);
  await expect.poll(() => server.responder.counters.unsent).toBe(1);
  udp.close();
});

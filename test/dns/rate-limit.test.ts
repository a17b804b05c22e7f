// How many answers a network gets over UDP.

import { createSocket } from 'node:dgram';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clientNetwork } from '../../src/dns/client-network.ts';
import { ResponseRateLimiter } from '../../src/dns/rate-limit.ts';
import { query, questionOf, readAnswer, TcpClient, UdpClient } from '../support/dns/client.ts';
import { startResponder, type TestResponder } from '../support/dns/responder.ts';

const BURST = 20;
const PER_SECOND = 10;

let server: TestResponder;
let udp: UdpClient;

beforeEach(async () => {
  server = await startResponder({ limits: { perSecond: PER_SECOND, burst: BURST } });
  udp = new UdpClient(server.port);
});
afterEach(async () => {
  udp.close();
  await server.close();
});

/** Asks so often, and then over TCP, which comes when all of these have been seen. @returns the answers by id. */
async function flood(times: number, client = udp): Promise<Map<number, ReturnType<typeof readAnswer>>> {
  const { counters } = server.responder;
  const seen = () => counters.answers.udp.NOERROR + counters.slipped + counters.dropped;
  const [before, dropped] = [seen(), counters.dropped];
  for (let id = 1; id <= times; id++) client.send(query('Tunnel.test', 'SOA', { id, edns: {} }));
  await expect.poll(seen).toBe(before + times);
  const answers = new Map<number, ReturnType<typeof readAnswer>>();
  while (answers.size < times - (counters.dropped - dropped)) {
    const answer = readAnswer(await client.next());
    answers.set(answer.packet.readUInt16BE(0), answer);
  }
  return answers;
}

test('over its limit, a network is told every second time to come over TCP, and not answered otherwise', async () => {
  const answers = await flood(BURST + 6);
  for (let id = 1; id <= BURST; id++) expect(answers.get(id)).toMatchObject({ isTruncated: false, answers: [{}] });
  expect([...answers.keys()].slice(BURST)).toEqual([BURST + 1, BURST + 3, BURST + 5]);
  const slipped = answers.get(BURST + 1);
  expect(slipped).toMatchObject({ code: 0, isTruncated: true, answers: [], authority: [], edns: { version: 0 } });
  expect(slipped?.question).toEqual(questionOf(query('Tunnel.test', 'SOA')));
  expect(server.responder.counters).toMatchObject({ slipped: 3, dropped: 3 });
});

test('the limit fills up again with time, no further than the burst', async () => {
  await flood(BURST);
  server.clock.advance(1000);
  expect(wholeOf(await flood(PER_SECOND + 2))).toBe(PER_SECOND);
  server.clock.advance(3_600_000);
  expect(wholeOf(await flood(BURST + 2))).toBe(BURST);
});

test('other addresses of a network share its limit, other networks and TCP do not', async () => {
  await flood(BURST + 1);
  const neighbour = await clientAt('127.0.0.77');
  expect(wholeOf(await flood(4, neighbour))).toBe(0);
  const stranger = await clientAt('127.0.1.1');
  expect(wholeOf(await flood(4, stranger))).toBe(4);
  const tcp = await TcpClient.connect(server.port);
  for (let i = 0; i < 2 * BURST; i++) expect(await tcp.ask(query('tunnel.test', 'SOA'))).toMatchObject({ code: 0 });
  for (const client of [neighbour, stranger, tcp]) client.close();
});

test('what is no question is never answered over the limit', async () => {
  await flood(BURST);
  for (let i = 0; i < 10; i++) udp.send(query('tunnel.test', 'SOA', { tail: Buffer.of(1) }));
  for (let i = 0; i < 10; i++) udp.send(query('tunnel.test', 'SOA', { opcode: 5 }));
  await expect.poll(() => server.responder.counters.dropped).toBe(20);
  expect(server.responder.counters.slipped).toBe(0);
});

test('the networks that are remembered are limited', () => {
  const limiter = new ResponseRateLimiter({ perSecond: 1, burst: 1, networks: 100 }, () => 0);
  for (let i = 0; i < 10_000; i++) limiter.take(`network ${i}`);
  expect(limiter.size).toBe(100);
  expect([limiter.take('network 9999'), limiter.take('network 0')]).toEqual(['slip', 'answer']);
});

describe('a client is known by its /24 or /56', () => {
  test.each([
    ['192.0.2.1', '192.0.2.254', true],
    ['192.0.2.1', '192.0.3.1', false],
    ['::ffff:192.0.2.1', '192.0.2.9', true],
    ['2001:db8:1:ff00::1', '2001:db8:1:ffff:ffff::9', true],
    ['2001:db8:1:ff00::1', '2001:db8:1:fe00::1', false],
    ['::1', '2001:db8::1', false],
    ['fe80::1%lo', 'fe80::2', true],
  ])('%s and %s', (one, other, areSame) => {
    expect(clientNetwork(one) === clientNetwork(other)).toBe(areSame);
  });
});

const wholeOf = (answers: Map<number, { isTruncated: boolean }>) =>
  [...answers.values()].filter(({ isTruncated }) => !isTruncated).length;

/** A client that sends from another address of loopback. */
async function clientAt(address: string): Promise<UdpClient> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, address, resolve));
  return new UdpClient(server.port, '127.0.0.1', socket);
}

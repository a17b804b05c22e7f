// What is no question, or only looks like one.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nameBytes, optRecord, query, readAnswer, TcpClient, UdpClient, words } from '../support/dns/client.ts';
import { startResponder, type TestResponder } from '../support/dns/responder.ts';

const FORMERR = 1;
const NAME = 'app.tunnel.test';
const HEADER_BYTES = 12;
const PACKETS = 2000;
/** So many are sent before answers are awaited: the kernel keeps a limited number of datagrams. */
const BATCH = 50;

let server: TestResponder;
let udp: UdpClient;

beforeAll(async () => {
  server = await startResponder();
  server.contents.set(NAME, { kind: 'addresses' });
  udp = new UdpClient(server.port);
});
afterAll(async () => {
  udp.close();
  await server.close();
});

/** A question with what a row changes: its header's counts, what is in place of its name, what is behind it. */
function odd(counts: [number, number, number, number], name: Buffer, ...behind: Buffer[]): Buffer {
  return Buffer.concat([words(4711, 0, ...counts), name, ...behind]);
}
const A_IN = words(1, 1);
const name = nameBytes(NAME);
const record = Buffer.concat([Buffer.of(0xc0, HEADER_BYTES), words(16, 1, 0, 0, 1), Buffer.of(0)]);
const opt = optRecord({});

describe('FORMERR answers', () => {
  test.each<[string, Buffer]>([
    ['a header alone that promises a question', odd([1, 0, 0, 0], Buffer.alloc(0))],
    ['a header without a question', odd([0, 0, 0, 0], Buffer.alloc(0))],
    ['two questions', odd([2, 0, 0, 0], name, A_IN, name, A_IN)],
    ['65,535 questions', odd([65_535, 0, 0, 0], name, A_IN)],
    ['a name that ends early', odd([1, 0, 0, 0], name.subarray(0, 6))],
    ['a name without an end', odd([1, 0, 0, 0], name.subarray(0, -1))],
    ['a question without a class', odd([1, 0, 0, 0], name, words(1))],
    ['a name that points to itself', odd([1, 0, 0, 0], Buffer.of(0xc0, HEADER_BYTES), A_IN)],
    ['a name that points into the header', odd([1, 0, 0, 0], Buffer.of(1, 0x61, 0xc0, 0), A_IN)],
    ['a name that points ahead', odd([1, 0, 0, 0], Buffer.of(0xc0, HEADER_BYTES + 6), A_IN, name)],
    ['a label of a reserved kind', odd([1, 0, 0, 0], Buffer.of(0x41, 0x61), name, A_IN)],
    ['a label of 64 bytes', odd([1, 0, 0, 0], Buffer.from(`\x40${'a'.repeat(64)}\0`, 'latin1'), A_IN)],
    ['a name of 256 bytes', odd([1, 0, 0, 0], nameBytes([...Array(3).fill('a'.repeat(63)), 'b'.repeat(62)]), A_IN)],
    ['a byte behind the question', odd([1, 0, 0, 0], name, A_IN, Buffer.of(0))],
    ['a record that is not there', odd([1, 1, 0, 0], name, A_IN)],
    ['65,535 records that are not there', odd([1, 65_535, 65_535, 65_535], name, A_IN)],
    ['a record that ends early', odd([1, 0, 1, 0], name, A_IN, record.subarray(0, -1))],
    ['a record whose data is too long', odd([1, 0, 0, 1], name, A_IN, Buffer.of(0), words(16, 1, 0, 0, 9))],
    ['two EDNS records', odd([1, 0, 0, 2], name, A_IN, opt, opt)],
    ['an EDNS record with a name', odd([1, 0, 0, 1], name, A_IN, name, opt.subarray(1))],
    ['an EDNS record among the answers', odd([1, 1, 0, 0], name, A_IN, opt)],
    ['an EDNS option that ends early', odd([1, 0, 0, 1], name, A_IN, optRecord({ options: words(10, 8, 0) }))],
    ['half an EDNS option', odd([1, 0, 0, 1], name, A_IN, optRecord({ options: words(10) }))],
  ])('%s', async (_, packet) => {
    const answer = await udp.ask(packet);
    expect(answer).toMatchObject({ code: FORMERR, isAuthoritative: false, isTruncated: false });
    expect(answer.packet).toHaveLength(HEADER_BYTES);
    expect(answer.packet.readUInt16BE(0)).toBe(4711);
  });
});

test.each<[string, Buffer]>([
  ['a name of 255 bytes', odd([1, 0, 0, 0], nameBytes([...Array(3).fill('a'.repeat(63)), 'b'.repeat(61)]), A_IN)],
  [
    'records of other kinds, with names that point anywhere',
    odd([1, 1, 1, 2], name, A_IN, record, record, record, opt),
  ],
])('%s can be asked about', async (_, packet) => {
  expect((await udp.ask(packet)).code).not.toBe(FORMERR);
});

describe('nothing answers', () => {
  test.each<[string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['eleven bytes', Buffer.alloc(11)],
    ['an answer', query(NAME, 'A', { flags: 0x8000 })],
    ['an answer that is malformed', words(4711, 0xffff, 1, 0, 0, 0)],
  ])('%s', async (_, packet) => {
    const before = server.responder.counters.ignored;
    udp.send(packet);
    // Datagrams are handled in their order.
    expect(await udp.ask(query(NAME, 'A', { id: 1 }))).toMatchObject({ answers: [`${NAME} 60 A 192.0.2.1`] });
    expect(server.responder.counters.ignored).toBe(before + 1);
  });

  test('an answer over TCP, and what is behind it is answered', async () => {
    const tcp = await TcpClient.connect(server.port);
    tcp.send(query(NAME, 'A', { flags: 0x8000 }), query(NAME, 'A', { id: 2 }));
    expect((await tcp.next()).readUInt16BE(0)).toBe(2);
    tcp.close();
  });
});

/** Numbers that are the same in each run (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const patterns = [
  query(NAME, 'A', { edns: { options: words(10, 4, 1, 2) } }),
  query('_acme-challenge.x.acme.tunnel.test', 'TXT'),
  query('tunnel.test', 'NS', { edns: { isDnssecOk: true } }),
  odd([1, 1, 1, 2], name, A_IN, record, record, record, opt),
];

function randomPacket(random: (below: number) => number): Buffer {
  return Buffer.from(Array.from({ length: random(200) }, () => random(256)));
}

/** A question of which some bytes are others, or are missing, or are there twice. */
function mutatedPacket(random: (below: number) => number): Buffer {
  const packet = Buffer.from(patterns[random(patterns.length)] as Buffer);
  for (let changes = 1 + random(4); changes > 0; changes--) packet[random(packet.length)] = random(256);
  const cut = random(packet.length);
  if (random(4) === 0) return packet.subarray(0, cut);
  if (random(4) === 0) return Buffer.concat([packet, packet.subarray(cut)]);
  return packet;
}

describe.each([
  ['random', randomPacket],
  ['mutated', mutatedPacket],
])(`${PACKETS} packets that are %s`, (_, make) => {
  test('get an answer to their own question or none, over UDP, and the next question its own', async () => {
    const random = randomOf(0xd5);
    const { counters } = server.responder;
    let answered = 0;
    for (let sent = 0; sent < PACKETS; sent += BATCH) {
      const batch = Array.from({ length: BATCH }, (_, index) => {
        const packet = make(random);
        if (packet.length >= 2) packet.writeUInt16BE(index + 1, 0);
        return packet;
      });
      for (const packet of batch) udp.send(packet);
      udp.send(query(NAME, 'A', { id: 0xffff }));
      for (;;) {
        const answer = await udp.next();
        const id = answer.readUInt16BE(0);
        if (id === 0xffff) {
          expect(readAnswer(answer)).toMatchObject({ code: 0, answers: [`${NAME} 60 A 192.0.2.1`] });
          break;
        }
        expectAnswerTo(batch[id - 1] as Buffer, answer);
        answered++;
      }
    }
    expect(answered).toBeGreaterThan(PACKETS / 4);
    expect(counters.failures).toBe(0);
    expect(server.logged).toEqual([]);
  });

  test('end no connection but their own, over TCP', async () => {
    const random = randomOf(0xcafe);
    const honest = await TcpClient.connect(server.port);
    for (let sent = 0; sent < PACKETS; sent += BATCH) {
      const client = await TcpClient.connect(server.port);
      client.send(...Array.from({ length: BATCH }, () => make(random)));
      client.socket.write(make(random));
      client.discard();
      client.socket.end();
      await client.closed;
      expect(await honest.ask(query(NAME, 'A'))).toMatchObject({ code: 0, answers: [`${NAME} 60 A 192.0.2.1`] });
    }
    honest.close();
    await expect.poll(() => server.responder.connections).toBe(0);
    expect(server.logged).toEqual([]);
  });
});

function expectAnswerTo(packet: Buffer, answer: Buffer): void {
  expect(answer.length).toBeLessThan(3 * packet.length);
  expect(answer.readUInt16BE(2) & 0x8000).toBe(0x8000);
  expect((answer.readUInt16BE(2) >> 11) & 0xf).toBe((packet.readUInt16BE(2) >> 11) & 0xf);
  const question = answer.readUInt16BE(4) === 1 ? answer.subarray(HEADER_BYTES, answer.indexOf(0, HEADER_BYTES)) : '';
  expect(packet.subarray(HEADER_BYTES, HEADER_BYTES + question.length)).toEqual(Buffer.from(question));
}

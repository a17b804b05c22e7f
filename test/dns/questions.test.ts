// What is answered to which question, over both transports.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Answer,
  type QueryOptions,
  query,
  questionOf,
  TcpClient,
  type TypeName,
  UdpClient,
} from '../support/dns/client.ts';
import { startResponder, type TestResponder } from '../support/dns/responder.ts';
import { rows } from './authoritative-answers.ts';

const NOERROR = 0;
const SERVFAIL = 2;
const NOTIMP = 4;
const REFUSED = 5;
const BADVERS = 16;

let server: TestResponder;
let udp: UdpClient;
let tcp: TcpClient;

beforeAll(async () => {
  server = await startResponder({
    find: async (name) => {
      if (name.startsWith('broken.')) throw new Error('the database is away');
      return server.contents.get(name) ?? { kind: 'none' };
    },
  });
  udp = new UdpClient(server.port);
  tcp = await TcpClient.connect(server.port);
  server.contents
    .set('app.tunnel.test', { kind: 'addresses' })
    .set('_acme-challenge.tunnel.test', { kind: 'text', txt: ['of-the-wildcard', 'of-the-name'] })
    .set('site.tunnel.test', { kind: 'addresses', txt: ['owner=1'] })
    .set('abc123.acme.tunnel.test', { kind: 'text', txt: ['one', 'two', 'one'] })
    .set('empty.acme.tunnel.test', { kind: 'text', txt: [] })
    .set('long.acme.tunnel.test', { kind: 'text', txt: ['', 'x'.repeat(300)] })
    .set('deep.between.tunnel.test', { kind: 'addresses' })
    .set('between.tunnel.test', { kind: 'text', txt: [] })
    .set('shop.cname.eu.tunnel.test', { kind: 'addresses' });
});
afterAll(async () => {
  udp.close();
  tcp.close();
  await server.close();
});

/** Asks over UDP and over TCP. The answers must be the same, but for being truncated, and for addresses that have no room. */
async function ask(name: string | string[], type: TypeName | number, options?: QueryOptions): Promise<Answer> {
  const packet = query(name, type, { edns: {}, ...options });
  const answer = await tcp.ask(packet);
  const byUdp = await udp.ask(packet);
  const { additional, packet: _, ...rest } = byUdp;
  expect(answer.additional.slice(0, additional.length)).toEqual(additional);
  if (!byUdp.isTruncated) expect(answer).toMatchObject(rest);
  return answer;
}

describe('authoritative answers say', () => {
  test.each(rows)('$what', async ({ name, type, code = NOERROR, answers = [], authority = [], additional = [] }) => {
    const answer = await ask(name, type);
    expect(answer).toMatchObject({ code, isAuthoritative: true, isTruncated: false, answers, authority, additional });
  });
});

test('names that no gateway has are not looked up', async () => {
  server.asked.length = 0;
  await ask(['a.b', 'tunnel', 'test'], 'A');
  await ask(['\xff', 'tunnel', 'test'], 'A');
  expect(server.asked).toEqual([]);
});

describe('other questions are refused, or not understood:', () => {
  const ours = 'abc123.acme.tunnel.test';
  const others: { what: string; name: string | string[]; type: TypeName; code: number; options?: QueryOptions }[] = [
    { what: 'a name outside the zones', name: 'example.com', type: 'A', code: REFUSED },
    { what: 'a name above the zones', name: 'test', type: 'SOA', code: REFUSED },
    { what: 'the root', name: '', type: 'NS', code: REFUSED },
    { what: 'a name that ends like a zone', name: 'xtunnel.test', type: 'A', code: REFUSED },
    { what: 'a label that looks like a zone', name: ['x.tunnel', 'test'], type: 'A', code: REFUSED },
    { what: 'a copy of the zone', name: 'acme.tunnel.test', type: 'AXFR', code: REFUSED },
    { what: 'changes of the zone', name: 'acme.tunnel.test', type: 'IXFR', code: REFUSED },
    { what: 'class CH', name: ours, type: 'TXT', code: REFUSED, options: { class: 3 } },
    { what: 'class ANY', name: ours, type: 'TXT', code: REFUSED, options: { class: 255 } },
    { what: 'NOTIFY', name: ours, type: 'SOA', code: NOTIMP, options: { opcode: 4 } },
    { what: 'UPDATE', name: ours, type: 'SOA', code: NOTIMP, options: { opcode: 5 } },
    { what: 'an unknown opcode', name: ours, type: 'SOA', code: NOTIMP, options: { opcode: 15 } },
    { what: 'a newer EDNS', name: ours, type: 'TXT', code: BADVERS, options: { edns: { version: 1 } } },
    { what: 'a name when the database is away', name: 'broken.tunnel.test', type: 'TXT', code: SERVFAIL },
  ];
  test.each(others)('$what', async ({ name, type, code, options }) => {
    const answer = await ask(name, type, options);
    expect(answer).toMatchObject({ code, opcode: options?.opcode ?? 0, isAuthoritative: false, answers: [] });
    expect(answer.authority).toEqual([]);
    expect(answer.edns).toEqual({ udpBytes: 1232, version: 0, isDnssecOk: false });
  });
});

describe('the question comes back', () => {
  test.each([
    ['in its letters', 'aBC123.AcmE.tUnnEL.teST'],
    ['in its letters when the name does not exist', 'NoBody.tUnnEL.teST'],
    ['in its letters when it is refused', 'eXample.cOM'],
    ['with labels that have dots', ['ap.P', 'Tunnel', 'test']],
    ['with labels of any bytes', ['\x80\xfe\xff\x00\x01', 'Tunnel', 'test']],
    ['with the longest labels', ['a'.repeat(63), 'B'.repeat(63), 'c'.repeat(63), 'd'.repeat(48), 'tunnel', 'test']],
  ])('%s', async (_, name) => {
    const packet = query(name, 'TXT');
    expect((await ask(name, 'TXT')).question).toEqual(questionOf(packet));
  });

  test('and names are looked up in lower case', async () => {
    server.asked.length = 0;
    await ask('ABC123.acme.Tunnel.TEST', 'TXT');
    expect(server.asked).toEqual(['abc123.acme.tunnel.test', 'abc123.acme.tunnel.test']);
  });
});

test('the id comes back, recursion is asked for but not offered, and no bit is set that we do not know', async () => {
  const { packet } = await ask('app.tunnel.test', 'A', { id: 0xbeef, flags: 0x0170 });
  expect(packet.readUInt16BE(0)).toBe(0xbeef);
  expect(packet.readUInt16BE(2)).toBe(0x8500);
});

test('zones that cannot be served are refused in words', async () => {
  const start = (zone: object) => startResponder({ zones: [{ apex: 'a.test', addresses: [], ...zone }] });
  await expect(start({ apex: 'A.test.' })).rejects.toThrow('the zone "A.test." is no name: it must be in lower case');
  await expect(start({ apex: `${'a.'.repeat(127)}test` })).rejects.toThrow('is no name');
  await expect(start({ nameServers: [] })).rejects.toThrow('the zone a.test needs a name server');
  await expect(start({ nameServers: ['ns 1'] })).rejects.toThrow('the name server "ns 1" of a.test is no name');
  await expect(start({ addresses: ['1.2.3'] })).rejects.toThrow('it must be like 192.0.2.1 or 2001:db8::1');
  await expect(start({ hostmaster: 'me' })).rejects.toThrow('it must be like hostmaster@example.com');
  const twice = [1, 2].map(() => ({ apex: 'a.test', addresses: [] }));
  await expect(startResponder({ zones: twice })).rejects.toThrow('the zone a.test is there twice');
});

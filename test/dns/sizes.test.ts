// How long answers are: what a client takes, what crosses the Internet, and never three times the question over UDP.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type QueryOptions, query, TcpClient, type TypeName, UdpClient, words } from '../support/dns/client.ts';
import { startResponder, type TestResponder, zones } from '../support/dns/responder.ts';

/** So long that three times the question is more than 512 bytes. */
const LONG = ['a'.repeat(63), 'b'.repeat(63), 'c'.repeat(63), 'acme', 'tunnel', 'test'].join('.');
/** An EDNS option that is there to be long (RFC 7830), so that the answer may be. */
const padding = Buffer.concat([words(12, 400), Buffer.alloc(400)]);
const SHORTEST = 'a.b';

let server: TestResponder;
let udp: UdpClient;
let tcp: TcpClient;

beforeAll(async () => {
  const addresses = Array.from({ length: 20 }, (_, i) => `192.0.2.${i}`);
  server = await startResponder({ zones: [...zones, { apex: SHORTEST, addresses }] });
  udp = new UdpClient(server.port);
  tcp = await TcpClient.connect(server.port);
});
afterAll(async () => {
  udp.close();
  tcp.close();
  await server.close();
});

describe('an answer over UDP is whole up to a limit, and truncated one byte above it:', () => {
  const limits: { what: string; limit: number; edns?: QueryOptions['edns'] }[] = [
    { what: '512 bytes without EDNS', limit: 512 },
    { what: '512 bytes when less is asked for', limit: 512, edns: { udpBytes: 100, options: padding } },
    { what: 'as many as are asked for', limit: 900, edns: { udpBytes: 900, options: padding } },
    { what: '1232 bytes when as many are asked for', limit: 1232, edns: { udpBytes: 1232, options: padding } },
    { what: '1232 bytes when more is asked for', limit: 1232, edns: { udpBytes: 4096, options: padding } },
  ];
  test.each(limits)('$what', async ({ limit, edns }) => {
    const packet = query(LONG, 'TXT', { edns });
    const publish = (bytes: number) => {
      server.contents.set(LONG, { kind: 'text', txt: ['x'.repeat(200), 'y'.repeat(bytes)] });
    };
    publish(1);
    const fixed = (await tcp.ask(packet)).packet.length;
    // Each piece of 255 bytes has a byte more, with its length.
    const free = limit - fixed + 1;
    publish(free - Math.floor(free / 256));
    const whole = await udp.ask(packet);
    expect(whole.packet).toHaveLength(limit);
    expect(whole).toMatchObject({ isTruncated: false, code: 0 });
    publish(free - Math.floor(free / 256) + 1);
    const cut = await udp.ask(packet);
    expect(cut).toMatchObject({ isTruncated: true, code: 0, isAuthoritative: true, answers: [], authority: [] });
    expect(cut.question).toEqual(whole.question);
    expect(cut.edns === undefined).toBe(edns === undefined);
    const byTcp = await tcp.ask(packet);
    expect(byTcp).toMatchObject({ isTruncated: false });
    expect(byTcp.packet).toHaveLength(limit + 1);
  });
});

test('an answer over TCP that no message has room for is truncated, too', async () => {
  server.contents.set('big.tunnel.test', { kind: 'text', txt: ['x'.repeat(60_000)] });
  const packet = query('big.tunnel.test', 'TXT');
  expect((await tcp.ask(packet)).answers[0]?.length).toBeGreaterThan(60_000);
  server.contents.set('big.tunnel.test', { kind: 'text', txt: ['x'.repeat(60_000), 'y'.repeat(70_000)] });
  expect(await tcp.ask(packet)).toMatchObject({ isTruncated: true, answers: [] });
});

describe('EDNS', () => {
  test('comes back where it came, and not where it did not', async () => {
    expect((await udp.ask(query('tunnel.test', 'SOA', { edns: {} }))).edns).toBeDefined();
    expect((await udp.ask(query('tunnel.test', 'SOA'))).edns).toBeUndefined();
  });

  test('says whether DNSSEC was asked for, and has no options, whatever options came', async () => {
    const options = Buffer.concat([words(3, 0), words(10, 8), Buffer.alloc(8), words(65_001, 3), Buffer.from('abc')]);
    const { edns, packet } = await udp.ask(query('app.tunnel.test', 'A', { edns: { isDnssecOk: true, options } }));
    expect(edns).toEqual({ udpBytes: 1232, version: 0, isDnssecOk: true });
    expect(packet.readUInt16BE(packet.length - 2)).toBe(0);
  });
});

describe('flooding others with our answers is not worth it:', () => {
  const questions = [
    'tunnel.test',
    'acme.tunnel.test',
    'v.acme.tunnel.test',
    'x.acme.tunnel.test',
    SHORTEST,
    `w.${SHORTEST}`,
  ]
    .flatMap((name) =>
      (['A', 'AAAA', 'TXT', 'NS', 'SOA', 'ANY', 'CAA', 'AXFR'] as const).map((type) => ({ name, type })),
    )
    .concat([{ name: 'example.com', type: 'TXT' }, { name: '', type: 'ANY' } as { name: string; type: 'ANY' }]);
  test.each(questions)('$type of "$name" over UDP is below three times its question', async ({ name, type }) => {
    server.contents.set('v.acme.tunnel.test', { kind: 'text', txt: ['v'.repeat(43), 'w'.repeat(43)] });
    server.contents.set(`w.${SHORTEST}`, { kind: 'addresses' });
    for (const edns of [undefined, {}, { udpBytes: 65_535, isDnssecOk: true }]) {
      const packet = query(name, type as TypeName, { edns });
      const answer = await udp.ask(packet);
      expect(answer.packet.length).toBeLessThan(3 * packet.length);
      if (answer.isTruncated) expect(answer.packet.length).toBeLessThanOrEqual(packet.length);
    }
  });

  test('what authorities ask for fits nevertheless', async () => {
    const name = `${'0123456789abcdef'.repeat(2)}.acme.tunnel.test`;
    server.contents.set(name, { kind: 'text', txt: ['v'.repeat(43), 'w'.repeat(43)] });
    expect(await udp.ask(query(name, 'TXT', { edns: {} }))).toMatchObject({ isTruncated: false, answers: [{}, {}] });
    for (const type of ['A', 'CAA'] as const)
      expect(await udp.ask(query(name, type, { edns: {} }))).toMatchObject({ isTruncated: false, authority: [{}] });
  });
});

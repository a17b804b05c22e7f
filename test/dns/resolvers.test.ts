// What resolvers and clients of others see of the responder.

import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missing, type Program, pathOf, runProgram } from '../support/dns/programs.ts';
import { startResponder, type TestResponder } from '../support/dns/responder.ts';
import { startUnbound, type Unbound } from '../support/dns/unbound.ts';

const TARGET = 'abc123.acme.tunnel.test';
const MANY = 'many.acme.tunnel.test';
/** Too long for UDP. */
const many = Array.from({ length: 30 }, (_, i) => `${i}`.padStart(43, 'v'));

let server: TestResponder;

beforeAll(async () => {
  server = await startResponder();
  server.contents
    .set(TARGET, { kind: 'text', txt: ['one', 'two'] })
    .set(MANY, { kind: 'text', txt: many })
    .set('app.tunnel.test', { kind: 'addresses' });
});
afterAll(() => server.close());

test("Node's resolver reads every kind of answer, and comes over TCP for what is too long", async () => {
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${server.port}`]);
  expect(await resolver.resolveTxt(TARGET)).toEqual([['one'], ['two']]);
  expect((await resolver.resolveTxt(MANY)).flat()).toEqual(many);
  expect(await resolver.resolve4('app.tunnel.test')).toEqual(['192.0.2.1']);
  expect(await resolver.resolve6('app.tunnel.test')).toEqual(['2001:db8::1']);
  expect(await resolver.resolveNs('tunnel.test')).toEqual(['ns1.tunnel.test']);
  expect(await resolver.resolveSoa('acme.tunnel.test')).toMatchObject({ nsname: 'ns1.tunnel.test', minttl: 1 });
  await expect(resolver.resolve4(TARGET)).rejects.toMatchObject({ code: 'ENODATA' });
  await expect(resolver.resolveTxt('unknown.tunnel.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await expect(resolver.resolve4('example.com')).rejects.toMatchObject({ code: 'EREFUSED' });
  expect(server.responder.counters.answers.tcp.NOERROR).toBeGreaterThan(0);
});

/** What the programs find strange. */
const COMPLAINTS = /warning|mismatch|malformed|bad packet|unexpected|no servers|failed|\berror\b/i;

const run = (program: Program, ...args: string[]) => runProgram(program, '@127.0.0.1', '-p', `${server.port}`, ...args);

/** What a program says, in words with one blank between them. */
const inWords = (output: string) => output.replace(/\s+/g, ' ');

describe('dig reads', () => {
  const rows: [string, string[], string[]][] = [
    [
      'all values',
      [TARGET, 'TXT'],
      ['status: NOERROR', 'flags: qr aa; QUERY: 1, ANSWER: 2,', 'TXT "one"', '0 IN TXT "two"'],
    ],
    ['NODATA', [TARGET, 'A'], ['status: NOERROR', 'flags: qr aa; QUERY: 1, ANSWER: 0, AUTHORITY: 1', 'test. 1 IN SOA']],
    ['NODATA of CAA', [TARGET, 'CAA'], ['status: NOERROR', 'ANSWER: 0, AUTHORITY: 1']],
    ['NXDOMAIN', ['x.acme.tunnel.test', 'TXT'], ['status: NXDOMAIN', 'flags: qr aa;', 'AUTHORITY: 1']],
    ['REFUSED', ['example.com', 'TXT'], ['status: REFUSED', 'flags: qr;']],
    ['HINFO', [TARGET, 'ANY', '+notcp'], ['ANSWER: 1,', 'HINFO "RFC8482" ""']],
    ['NOTIMP of NOTIFY', [TARGET, 'SOA', '+opcode=NOTIFY'], ['opcode: NOTIFY, status: NOTIMP']],
    ['NOTIMP of UPDATE', [TARGET, 'SOA', '+opcode=UPDATE'], ['opcode: UPDATE, status: NOTIMP']],
    ['REFUSED of class CH', [TARGET, 'TXT', '-c', 'CH'], ['status: REFUSED']],
    [
      'BADVERS',
      [TARGET, 'TXT', '+edns=1', '+noednsnegotiation'],
      ['status: BADVERS', 'EDNS: version: 0, flags:; udp: 1232'],
    ],
    ['its own DO', [TARGET, 'TXT', '+dnssec'], ['EDNS: version: 0, flags: do; udp: 1232']],
    [
      'an answer without EDNS',
      [TARGET, 'TXT', '+noedns'],
      ['status: NOERROR', 'ANSWER: 2, AUTHORITY: 0, ADDITIONAL: 0'],
    ],
    [
      'an answer to unknown options',
      [TARGET, 'TXT', '+ednsopt=65001:abcd', '+nsid'],
      ['status: NOERROR', 'ANSWER: 2,'],
    ],
    [
      'TC',
      [MANY, 'TXT', '+bufsize=512', '+ignore'],
      ['flags: qr aa tc; QUERY: 1, ANSWER: 0, AUTHORITY: 0, ADDITIONAL: 1'],
    ],
    ['what is too long, over TCP', [MANY, 'TXT'], ['Truncated, retrying in TCP', 'flags: qr aa; QUERY: 1, ANSWER: 30']],
    [
      'answers of one connection',
      ['+tcp', '+keepopen', TARGET, 'TXT', 'app.tunnel.test', 'AAAA'],
      ['"two"', '2001:db8::1'],
    ],
    ['NS with addresses', ['tunnel.test', 'NS'], ['3600 IN NS ns1.tunnel.test.', 'ns1.tunnel.test. 60 IN A 192.0.2.1']],
    ['its own letters', ['AbC123.aCMe.tUnNel.TEST', 'TXT'], ['AbC123.aCMe.tUnNel.TEST. 0 IN TXT "one"']],
  ];
  test.for(rows)('%s', async ([, args, expected], { skip }) => {
    skip(!pathOf('dig'), missing('dig'));
    const output = inWords(await run('dig', '+norecurse', '+tries=1', ...args));
    for (const words of expected) expect(output).toContain(words);
    expect(output).not.toMatch(COMPLAINTS);
  });

  test.for(['AXFR', 'IXFR=1'])('that %s fails', async (type, { skip }) => {
    skip(!pathOf('dig'), missing('dig'));
    expect(await run('dig', 'acme.tunnel.test', type, '+tries=1')).toContain('; Transfer failed.');
  });
});

test('kdig reads answers of one connection', async ({ skip }) => {
  skip(!pathOf('kdig'), missing('kdig'));
  const output = await run('kdig', '+tcp', '+keepopen', MANY, 'TXT', TARGET, 'TXT', '+padding');
  expect(output.match(/status: NOERROR/g)).toHaveLength(2);
  for (const words of ['ANSWER: 30;', 'ANSWER: 2;', 'TXT "two"']) expect(inWords(output)).toContain(words);
  expect(output).not.toMatch(COMPLAINTS);
});

test('drill reads an answer', async ({ skip }) => {
  skip(!pathOf('drill'), missing('drill'));
  const output = inWords(await runProgram('drill', '-p', `${server.port}`, '@127.0.0.1', TARGET, 'TXT'));
  for (const words of ['rcode: NOERROR', 'flags: qr aa rd ;', 'TXT "one"', 'TXT "two"'])
    expect(output).toContain(words);
});

describe("a customer's name that leads here is resolved by Unbound, which asks label by label and in random letters,", () => {
  let unbound: Unbound | undefined;
  const resolver = new Resolver();

  beforeAll(async () => {
    if (!pathOf('unbound')) return;
    unbound = await startUnbound({
      zones: {
        'customer.test': `_acme-challenge CNAME ${TARGET}.\n_acme-challenge.www CNAME later.acme.tunnel.test.\nwww CNAME app.tunnel.test.`,
      },
      stubs: [{ zone: 'tunnel.test', address: `127.0.0.1:${server.port}` }],
    });
    resolver.setServers([unbound.address]);
  });
  afterAll(() => unbound?.stop());

  const testWithUnbound = (name: string, run: () => Promise<void>) =>
    test(name, async ({ skip }) => {
      skip(!unbound, missing('unbound'));
      await run();
    });

  testWithUnbound('to all values of its challenge', async () => {
    server.contents.set(TARGET, { kind: 'text', txt: ['one', 'two'] });
    server.asked.length = 0;
    expect((await resolver.resolveTxt('_acme-challenge.customer.test')).flat().sort()).toEqual(['one', 'two']);
    expect(server.asked).toContain(TARGET);
  });

  testWithUnbound('to values that were published just now, each time', async () => {
    for (let i = 0; i < 20; i++) {
      server.contents.set(TARGET, { kind: 'text', txt: [`value ${i}`] });
      expect(await resolver.resolveTxt('_acme-challenge.customer.test')).toEqual([[`value ${i}`]]);
    }
  });

  testWithUnbound('to values that are too long for UDP', async () => {
    server.contents.set(TARGET, { kind: 'text', txt: many });
    expect((await resolver.resolveTxt('_acme-challenge.customer.test')).flat().sort()).toEqual([...many].sort());
  });

  testWithUnbound('to nothing for at most a second, when a value comes after the question', async () => {
    server.contents.set('later.acme.tunnel.test', { kind: 'text', txt: [] });
    // Behind a CNAME, Node tells no difference between no records and an empty list of them.
    expect(await resolver.resolveTxt('_acme-challenge.www.customer.test')).toEqual([]);
    server.contents.set('later.acme.tunnel.test', { kind: 'text', txt: ['here'] });
    await expect
      .poll(() => resolver.resolveTxt('_acme-challenge.www.customer.test').catch(() => []), { timeout: 3000 })
      .toEqual([['here']]);
  });

  testWithUnbound('to the addresses of its tunnel, and allows every authority there', async () => {
    expect(await resolver.resolve4('www.customer.test')).toEqual(['192.0.2.1']);
    expect(await resolver.resolve6('www.customer.test')).toEqual(['2001:db8::1']);
    expect(await resolver.resolveCaa('www.customer.test')).toEqual([]);
  });

  testWithUnbound('to nothing at all where there is nothing', async () => {
    await expect(resolver.resolve4('nobody.acme.tunnel.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolver.resolve4('eu.tunnel.test')).rejects.toMatchObject({ code: 'ENODATA' });
  });
});

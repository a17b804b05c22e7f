// Fingerprints of TLS clients: those that others have published for the same offers.

import { describe, expect, test } from 'vitest';
import { ja4Fingerprint } from '../../../src/edge/codec/ja4.ts';
import { readClientHello } from '../../../src/edge/tls/client-hello.ts';

const u16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const vector = (body: Buffer, lengthBytes = 2) => {
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(body.length, 0, lengthBytes);
  return Buffer.concat([length, body]);
};
const numbers = (text: string) =>
  Buffer.concat(
    text
      .split(',')
      .filter(Boolean)
      .map((each) => u16(Number.parseInt(each, 16))),
  );

interface Offer {
  ciphers: string;
  /** In their order; hexadecimal as the others. */
  extensions: string;
  signatures?: string;
  /** In `supported_versions`. */
  versions?: string;
  legacy?: string;
  alpn?: (string | Buffer)[];
}

/** A ClientHello, in records of so many bytes. */
function helloOf(
  { ciphers, extensions, signatures = '', versions = '0304,0303', legacy = '0303', alpn = ['h2'] }: Offer,
  recordSize = 16_000,
) {
  const bodies: Record<string, Buffer> = {
    '0000': vector(Buffer.concat([Buffer.from([0]), vector(Buffer.from('app.example.com'))])),
    '000d': vector(numbers(signatures)),
    '0010': vector(Buffer.concat(alpn.map((protocol) => vector(Buffer.from(protocol), 1)))),
    '002b': vector(numbers(versions), 1),
  };
  const list = extensions.split(',').filter(Boolean);
  const body = Buffer.concat([
    ...[numbers(legacy), Buffer.alloc(32), Buffer.from([0]), vector(numbers(ciphers)), Buffer.from([1, 0])],
    ...(list.length > 0
      ? [
          vector(
            Buffer.concat(list.map((type) => Buffer.concat([numbers(type), vector(bodies[type] ?? Buffer.alloc(0))]))),
          ),
        ]
      : []),
  ]);
  const message = Buffer.concat([Buffer.from([1]), vector(body, 3)]);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += recordSize)
    records.push(Buffer.from([22, 3, 1]), vector(message.subarray(at, at + recordSize)));
  const bytes = Buffer.concat(records);
  expect(readClientHello(bytes).state).toBe('hello');
  return bytes;
}

const signatures = '0403,0804,0401,0503,0805,0501,0806,0601';
const ciphers = '1301,1302,1303,c02b,c02f,c02c,c030,cca9,cca8,c013,c014,009c,009d,002f,0035';
/** The example of FoxIO's specification, in its original order. */
const example: Offer = {
  ciphers,
  signatures,
  extensions: '001b,0000,0033,0010,4469,0017,002d,000d,0005,0023,0012,002b,ff01,000b,000a,0015',
};

describe('a published one:', () => {
  test.each([
    ['t13d1516h2_8daaf6152771_e5627efa2ab1', example],
    [
      't13d1516h2_8daaf6152771_02713d6af862',
      {
        signatures,
        ciphers: 'c030,1302,002f,009d,c014,1301,0035,1303,009c,c013,cca8,c02b,cca9,c02f,c02c',
        extensions: '000b,001b,000d,002d,002b,0033,0012,0017,ff01,4469,0005,fe0d,000a,0023,0010,0000',
      },
    ],
    [
      't13d1516h2_8daaf6152771_d8a2da3f94cd',
      {
        signatures,
        ciphers,
        extensions: '002d,0033,0010,fe0d,0017,44cd,0000,000b,000a,002b,ff01,0023,0012,0005,000d,001b',
      },
    ],
  ] as [string, Offer][])('%s', (fingerprint, offer) => {
    expect(ja4Fingerprint(helloOf(offer))).toBe(fingerprint);
    expect(ja4Fingerprint(helloOf(offer, 50))).toBe(fingerprint);
  });
});

const first = (offer: Partial<Offer>) => ja4Fingerprint(helloOf({ ...example, ...offer })).split('_')[0];

test('values that stand for nothing (GREASE) change nothing', () => {
  const greased = {
    ciphers: `0a0a,${ciphers}`,
    signatures,
    extensions: `1a1a,${example.extensions},fafa`,
    versions: 'dada,0304,0303',
  };
  expect(ja4Fingerprint(helloOf(greased))).toBe('t13d1516h2_8daaf6152771_e5627efa2ab1');
  expect(first({ ciphers: '0a1a,1301' })).toBe('t13d0216h2');
});

test('the version is the highest that is offered, and the one of the message where none is', () => {
  expect(first({ versions: '0303,0302' })).toBe('t12d1516h2');
  const older = { extensions: '0000,0010,000d' };
  expect(first({ ...older, legacy: '0303' })).toBe('t12d1503h2');
  expect(first({ ...older, legacy: '0301' })).toBe('t10d1503h2');
});

test('a client that names nobody, or no protocol, or one without letters at its ends', () => {
  expect(first({ extensions: '002b' })).toBe('t13i150100');
  expect(first({ alpn: ['http/1.1'] })).toBe('t13d1516h1');
  expect(first({ alpn: ['x'] })).toBe('t13d1516xx');
  expect(first({ alpn: [Buffer.from([0xab, 0x30, 0xcd])] })).toBe('t13d1516ad');
});

test('without extensions, and without signature algorithms', () => {
  expect(ja4Fingerprint(helloOf({ ciphers, extensions: '' }))).toBe('t12i150000_8daaf6152771_000000000000');
  const [, , some] = ja4Fingerprint(helloOf({ ciphers, extensions: '002b' })).split('_');
  const [, , signed] = ja4Fingerprint(helloOf({ ciphers, extensions: '002b,000d', signatures: '0403' })).split('_');
  // SHA-256 of "002b", and of "000d,002b_0403".
  expect([some, signed]).toEqual(['b9a491fefe05', '3953dc75acc4']);
});

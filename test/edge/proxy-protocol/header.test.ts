// What is read of the header of the PROXY protocol: the vectors are written out here, not made by our own writer.

import { describe, expect, test } from 'vitest';
import { BINARY_MAX, readProxyProtocol, TEXT_MAX } from '../../../src/edge/proxy-protocol/header.ts';
import { LOCAL_HEADER, proxyProtocolHeader } from '../../../src/tunnel/network/proxy-protocol.ts';

const text = (line: string) => Buffer.from(line, 'latin1');
const SIGNATURE = '0d0a0d0a000d0a515549540a';
const binary = (rest: string) => Buffer.from(SIGNATURE + rest.replaceAll(' ', ''), 'hex');
const places = (ip: string, port: number, localIp: string, localPort: number) => ({
  ip,
  port,
  local: { ip: localIp, port: localPort },
});

const V4 = '2111 000c c0000207 c6336401 dc04 01bb';
const V6 = `2121 0024 ${'20010db8000000000000000000000007'} ${'20010db8000000000000000000000001'} dc04 01bb`;
const OF_V4 = places('192.0.2.7', 56324, '198.51.100.1', 443);

const good: [name: string, header: Buffer, peer: object | undefined][] = [
  ['v1 over IPv4', text('PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\n'), OF_V4],
  [
    'v1 over IPv6',
    text('PROXY TCP6 2001:DB8::7 2001:db8:0::1 1 65535\r\n'),
    places('2001:db8::7', 1, '2001:db8::1', 65535),
  ],
  ['v1 with mapped addresses', text('PROXY TCP6 ::ffff:192.0.2.7 ::ffff:198.51.100.1 56324 443\r\n'), OF_V4],
  ['v1 of nobody', text('PROXY UNKNOWN\r\n'), undefined],
  [
    'the longest of v1',
    text(`PROXY UNKNOWN ${'ffff:'.repeat(7)}ffff ${'ffff:'.repeat(7)}ffff 65535 65535\r\n`),
    undefined,
  ],
  ['v2 over IPv4', binary(V4), OF_V4],
  ['v2 over IPv6', binary(V6), places('2001:db8::7', 56324, '2001:db8::1', 443)],
  [
    'v2 with mapped addresses',
    binary(`2121 0024 ${'0'.repeat(20)}ffffc0000207 ${'0'.repeat(20)}ffffc6336401 dc04 01bb`),
    OF_V4,
  ],
  // As AWS does: the id of a VPC endpoint (0xea), and padding (0x04).
  ['v2 with TLVs', binary(`2111 0017 c0000207 c6336401 dc04 01bb ea 0004 01 767063 04 0001 00`), OF_V4],
  ['the longest of v2', binary(`2111 0ff0 c0000207 c6336401 dc04 01bb ${'00'.repeat(4080 - 12)}`), OF_V4],
  ['v2 of a check', binary('2000 0000'), undefined],
  ['v2 of a check, with addresses', binary(V4.replace('2111', '2011')), undefined],
  ['v2 of no family', binary('2100 0000'), undefined],
  ['v2 of datagrams', binary(V4.replace('2111', '2112')), undefined],
  ['v2 of a Unix socket', binary(`2131 00d8 ${'00'.repeat(216)}`), undefined],
];

describe('a header that is right', () => {
  test.each(good)('%s', (_, header, peer) => {
    expect(readProxyProtocol(header)).toEqual({ state: 'header', length: header.length, peer });
  });

  test.each(good)('%s, byte by byte: not known before its last byte', (_, header) => {
    for (let length = 0; length < header.length; length++)
      expect(readProxyProtocol(header.subarray(0, length)), `${length} bytes`).toEqual({ state: 'more' });
  });

  test.each(good)('%s, with what follows it', (_, header, peer) => {
    const more = Buffer.concat([header, text('GET / HTTP/1.1\r\n'), header]);
    expect(readProxyProtocol(more)).toEqual({ state: 'header', length: header.length, peer });
  });

  test('is what we write ourselves', () => {
    for (const version of [1, 2] as const)
      for (const ip of ['192.0.2.7', '2001:db8::7']) {
        const header = proxyProtocolHeader(version, { ip, port: 4711 }, 443, ip);
        expect(readProxyProtocol(header)).toMatchObject({ peer: places(ip, 4711, ip, 443) });
      }
    expect(readProxyProtocol(LOCAL_HEADER)).toEqual({ state: 'header', length: LOCAL_HEADER.length, peer: undefined });
  });
});

test.each<[name: string, bytes: Buffer, reason: RegExp]>([
  ['HTTP', text('GET / HTTP/1.1\r\n'), /no PROXY header/],
  ['one wrong byte', text('X'), /no PROXY header/],
  ['TLS', Buffer.from('160301', 'hex'), /no PROXY header/],
  ['a signature that goes wrong', Buffer.from('0d0a0d0a000d0a515549540b', 'hex'), /no PROXY header/],
  ['small letters', text('proxy TCP4 '), /no PROXY header/],
  ['a bare LF', text('PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\n'), /CR LF/],
  ['another family', text('PROXY UDP4 192.0.2.7 198.51.100.1 1 2\r\n'), /none of the protocol/],
  ['two spaces', text('PROXY TCP4  192.0.2.7 198.51.100.1 1 2\r\n'), /none of the protocol/],
  ['a space at the end', text('PROXY TCP4 192.0.2.7 198.51.100.1 1 2 \r\n'), /none of the protocol/],
  ['no ports', text('PROXY TCP4 192.0.2.7 198.51.100.1\r\n'), /none of the protocol/],
  ['a zero before a port', text('PROXY TCP4 192.0.2.7 198.51.100.1 01 2\r\n'), /none of the protocol/],
  ['a port that is too high', text('PROXY TCP4 192.0.2.7 198.51.100.1 1 65536\r\n'), /too high/],
  ['a name', text('PROXY TCP4 example.com 198.51.100.1 1 2\r\n'), /addresses of TCP4/],
  ['an address of the other family', text('PROXY TCP4 2001:db8::1 198.51.100.1 1 2\r\n'), /addresses of TCP4/],
  ['octal digits', text('PROXY TCP4 192.000.002.007 198.51.100.1 1 2\r\n'), /addresses of TCP4/],
  ['a zone', text('PROXY TCP6 fe80::1%eth0 2001:db8::1 1 2\r\n'), /zone/],
  ['a line without an end', text(`PROXY UNKNOWN ${'x'.repeat(TEXT_MAX)}`), /longer than 107/],
  ['a line of 108 bytes', text(`PROXY UNKNOWN ${'x'.repeat(92)}\r\n`), /longer than 107/],
  ['version 1 of the binary form', binary('11'), /version or command/],
  ['an unknown command', binary('22'), /version or command/],
  ['an unknown family', binary('2141 000c'), /family/],
  ['too short for IPv4', binary('2111 000b'), /too short/],
  ['too short for IPv6', binary('2121 000c'), /too short/],
  ['v2 that is too long', binary(`2111 ${(BINARY_MAX - 15).toString(16).padStart(4, '0')}`), /longer than 4096/],
])('%s is no header', (_, bytes, reason) => {
  expect(readProxyProtocol(bytes)).toEqual({ state: 'malformed', reason: expect.stringMatching(reason) });
});

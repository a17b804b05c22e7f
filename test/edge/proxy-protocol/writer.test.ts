import { describe, expect, test } from 'vitest';
import { proxyProtocolHeader } from '../../../src/tunnel/network/proxy-protocol.ts';

const hex = (bytes: Buffer) => bytes.toString('hex');
const signature = '0d0a0d0a000d0a515549540a';

describe('version 1', () => {
  test('IPv4', () => {
    const header = proxyProtocolHeader(1, { ip: '255.255.255.255', port: 65535 }, 65535, '255.255.255.255');
    // The example of section 2.1: "worst case (optional fields set to 0xff)".
    expect(header.toString()).toBe('PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n');
    expect(header.length).toBe(56);
  });

  test('IPv6', () => {
    const header = proxyProtocolHeader(1, { ip: '2001:db8::7', port: 56324 }, 443, '2001:db8::1');
    expect(header.toString()).toBe('PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\n');
  });

  test('an unknown target has the unspecified address of the same family', () => {
    expect(proxyProtocolHeader(1, { ip: '192.0.2.7', port: 1 }, 2).toString()).toBe(
      'PROXY TCP4 192.0.2.7 0.0.0.0 1 2\r\n',
    );
    expect(proxyProtocolHeader(1, { ip: '::1', port: 1 }, 2).toString()).toBe('PROXY TCP6 ::1 :: 1 2\r\n');
  });

  test('families are not mixed: IPv4 beside IPv6 is mapped', () => {
    expect(proxyProtocolHeader(1, { ip: '192.0.2.7', port: 1 }, 2, '::1').toString()).toBe(
      'PROXY TCP6 ::ffff:192.0.2.7 ::1 1 2\r\n',
    );
  });
});

describe('version 2', () => {
  test('IPv4', () => {
    const header = proxyProtocolHeader(2, { ip: '192.0.2.7', port: 56324 }, 443, '198.51.100.1');
    expect(hex(header)).toBe(`${signature}2111000cc0000207c6336401dc0401bb`);
  });

  test('IPv6', () => {
    const header = proxyProtocolHeader(2, { ip: '2001:db8:1:2:3:4:5:6', port: 1 }, 65535, '2001:db8::1');
    expect(hex(header)).toBe(
      `${signature}2121002420010db8000100020003000400050006${'20010db8000000000000000000000001'}0001ffff`,
    );
  });

  test.each([
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['1::', '00010000000000000000000000000000'],
    ['fe80::a:b%eth0', 'fe80000000000000000000000000000a000b'.replace('00000000000000000000', '0000000000000000')],
    ['::ffff:192.0.2.7', '00000000000000000000ffffc0000207'],
    ['64:ff9b::192.0.2.33', '0064ff9b0000000000000000c0000221'],
    ['2001:DB8::FFFF:0', '20010db8000000000000000' + '0ffff0000'],
  ])('the address %s', (ip, expected) => {
    expect(hex(proxyProtocolHeader(2, { ip, port: 0 }, 0).subarray(16, 32))).toBe(expected);
  });

  test('IPv4 beside IPv6 is mapped', () => {
    const header = proxyProtocolHeader(2, { ip: '192.0.2.7', port: 1 }, 2, '::1');
    expect(hex(header)).toBe(
      `${signature}2121002400000000000000000000ffffc0000207000000000000000000000000000000010001${'0002'}`,
    );
  });
});

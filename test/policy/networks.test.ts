import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { networksOf, readCidr } from '../../src/net/networks.ts';

describe('reading a network', () => {
  test.each([
    ['10.1.2.3/8', 4, '10.0.0.0', 8],
    ['192.0.2.1', 4, '192.0.2.1', 32],
    ['0.0.0.0/0', 4, '0.0.0.0', 0],
    ['255.255.255.255/31', 4, '255.255.255.254', 31],
    ['2001:DB8:0:0:1::5/64', 6, '2001:db8::', 64],
    ['::1', 6, '::1', 128],
    ['::/0', 6, '::', 0],
    ['64:ff9b::1.2.3.4/127', 6, '64:ff9b::102:304', 127],
    ['1:2:3:4:5:6:7:8/17', 6, '1::', 17],
    // IPv4 that is written as IPv6.
    ['::ffff:10.1.2.3/104', 4, '10.0.0.0', 8],
    ['::ffff:c000:201', 4, '192.0.2.1', 32],
    ['::ffff:0:0/96', 4, '0.0.0.0', 0],
  ] as const)('%s is IPv%i, %s/%i', (text, family, base, prefix) => {
    expect(readCidr(text)).toEqual({ family, base, prefix, canonical: `${base}/${prefix}` });
  });

  test.each([
    '',
    '/8',
    '10',
    '10.0.0/8',
    '010.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    ' 10.0.0.0/8',
    '::/129',
    '::g',
    'fe80::1%eth0/64',
    '::ffff:10.0.0.1/95',
    'example.com',
  ])('%j is none', (text) => {
    expect(readCidr(text)).toBeUndefined();
  });
});

test('the families are kept apart: all of IPv6 has no IPv4 in it, however that is written', () => {
  const six = networksOf(['::/0']);
  expect(['::1', '192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201'].map(six.has)).toEqual([true, false, false, false]);
  const four = networksOf(['192.0.2.0/24']);
  expect(['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '::c000:201'].map(four.has)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test('an address is found in the smallest network that has it', () => {
  const networks = networksOf(['10.0.0.0/8', '10.1.0.0/16', '10.1.2.3', '10.3.0.0/16', '0.0.0.0/5', '2001:db8::/32']);
  const find = ['10.1.2.3', '10.1.2.4', '10.2.0.0', '10.255.255.255', '10.3.255.255', '7.9.9.9', '11.0.0.0', '8.0.0.0'];
  expect(find.map((ip) => networks.find(ip))).toEqual([
    '10.1.2.3/32',
    '10.1.0.0/16',
    '10.0.0.0/8',
    '10.0.0.0/8',
    '10.3.0.0/16',
    '0.0.0.0/5',
    undefined,
    undefined,
  ]);
  expect(networks.find('2001:db8:ffff::1')).toBe('2001:db8::/32');
});

test('what is no address is in no network; a zone does not matter', () => {
  const all = networksOf(['0.0.0.0/0', '::/0']);
  expect(['', '1', '1.2.3', 'example.com', '[::1]', '1.2.3.4:80'].filter(all.has)).toEqual([]);
  expect(all.find('fe80::1%eth0')).toBe('::/0');
});

test('a network that is none is refused with what would be right', () => {
  expect(() => networksOf(['10.0.0.0/8', '10.0.0.0/40'])).toThrow('"10.0.0.0/40" is no network: it must be like');
});

test('networks and addresses at random: what Node finds with a list for each family is found', () => {
  // Few values of each word, so that networks meet.
  const v4 = fc.array(fc.constantFrom(0, 1, 128, 255), { minLength: 4, maxLength: 4 }).map((parts) => parts.join('.'));
  const v6 = fc
    .array(fc.constantFrom('0', '1', '8000', 'fffe'), { minLength: 8, maxLength: 8 })
    .map((parts) => parts.join(':'));
  const check = (family: 'ipv4' | 'ipv6', ip: typeof v4, max: number) =>
    fc.assert(
      fc.property(fc.array(fc.tuple(ip, fc.nat(max)), { maxLength: 12 }), fc.array(ip), (networks, addresses) => {
        const list = new BlockList();
        for (const [base, prefix] of networks) list.addSubnet(base, prefix, family);
        const ours = networksOf(networks.map(([base, prefix]) => `${base}/${prefix}`));
        for (const address of addresses) expect(ours.has(address)).toBe(list.check(address, family));
      }),
      { seed: 20261121, numRuns: 300 },
    );
  check('ipv4', v4, 32);
  check('ipv6', v6, 128);
});

test('among ten thousand networks an address is found in microseconds', () => {
  const cidrs = Array.from({ length: 10_000 }, (_, i) => `${1 + (i % 223)}.${(i * 7) % 256}.${(i * 13) % 256}.0/24`);
  const networks = networksOf(cidrs);
  // By its CPU: on a busy machine, a clock would count the work of others.
  const start = process.cpuUsage();
  for (let i = 0; i < 20_000; i++) networks.has(`203.${i % 256}.113.9`);
  expect(process.cpuUsage(start).user / 20_000, 'microseconds').toBeLessThan(20);
});

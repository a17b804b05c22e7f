// The records of reserved domains, asked for at a name server of the test's own.

import { describe, expect, test } from 'vitest';
import { withDns } from '../../src/acme/checks/dns.ts';
import { checkDomain } from '../../src/acme/checks/dns-check.ts';
import { readConfig } from '../../src/config/config.ts';
import { newId } from '../../src/store/ids.ts';
import { issue } from '../contract/rows/certificates.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { root } from '../support/root.ts';
import { account, check, dns, gateway, reserve, reservedCount, useNameServer } from './domain-check-setup.ts';

useNameServer();

describe('the record of a domain', () => {
  test('is right when it is a CNAME of its target', async () => {
    const { id, domain, target } = await reserve();
    dns.zone = { [domain]: { cname: target.toUpperCase() }, [target]: ['192.0.2.1', '2001:db8::1'] };
    expect(await check(id)).toEqual({
      isReady: true,
      message: 'The record is right.',
      records: [
        {
          ...{ name: domain, type: 'CNAME', expected: target, found: [target], state: 'OK' },
          message: `${domain} leads to ${target}.`,
        },
      ],
    });
  });

  test('is asked for anew each time', async () => {
    const { id, domain, target } = await reserve();
    expect((await check(id)).records[0].state).toBe('MISSING');
    dns.zone = { [domain]: { cname: target }, [target]: ['192.0.2.1'] };
    expect((await check(id)).records[0].state).toBe('OK');
  });

  test.each([
    ['there is nothing', undefined, 'MISSING', [], /^app\.shop\d+\.com has no such record yet\./],
    ['the name has records of other kinds only', [], 'MISSING', [], /has no such record yet/],
    ['it leads elsewhere', { cname: 'other.example' }, 'WRONG', ['other.example'], /leads to other\.example; it must/],
    [
      'it has other addresses',
      ['198.51.100.7', '2001:db8::7'],
      'WRONG',
      ['198.51.100.7', '2001:db8::7'],
      /has other addresses than .* Put the CNAME record in their place\.$/,
    ],
    [
      'one of its addresses is of somebody else',
      ['192.0.2.1', '198.51.100.7'],
      'WRONG',
      ['192.0.2.1', '198.51.100.7'],
      /has other addresses/,
    ],
    ['its servers fail', 'SERVFAIL', 'UNKNOWN', [], /could not be looked up: the name servers .* \(SERVFAIL\)\.$/],
    ['nobody may ask', 'REFUSED', 'UNKNOWN', [], /could not be looked up: the name server refused/],
  ] as const)('when %s', async (_, entry, state, found, message) => {
    const { id, domain, target } = await reserve();
    dns.zone = { [target]: ['192.0.2.1', '2001:db8::1'] };
    if (entry) dns.zone[domain] = entry as never;
    const answer = await check(id);
    expect(answer).toMatchObject({ isReady: false, records: [{ state, found }] });
    expect(answer.records[0].message).toMatch(message);
  });

  test('is right at the top of a zone, where there can be no CNAME, when it has addresses of its target', async () => {
    const { id, domain, target } = await reserve('%.com');
    dns.zone = { [domain]: ['192.0.2.2'], [target]: ['192.0.2.1', '192.0.2.2', '2001:db8::1'] };
    expect(await check(id)).toMatchObject({
      isReady: true,
      records: [{ state: 'OK', found: ['192.0.2.2'], message: `${domain} has addresses of ${target}.` }],
    });
  });

  test('is right when it leads to its target by way of another name', async () => {
    const { id, domain, target } = await reserve();
    dns.zone = { [domain]: { cname: 'edge.example' }, 'edge.example': { cname: target }, [target]: ['192.0.2.1'] };
    expect(await check(id)).toMatchObject({ isReady: true, records: [{ state: 'OK' }] });
  });

  test('does not help when its target has no address, or nobody can say', async () => {
    const { id, domain, target } = await reserve();
    dns.zone = { [domain]: { cname: target } };
    expect(await check(id)).toMatchObject({
      isReady: false,
      message: `The record is right, but ${target} has no address: whoever runs the gateway has to publish it in the DNS.`,
      records: [{ state: 'OK' }],
    });
    dns.zone = { [domain]: { cname: target }, [target]: 'SERVFAIL' };
    const { isReady, message } = await check(id);
    expect(isReady).toBe(false);
    expect(message).toMatch(/^The record is right, but .* could not be looked up: /);
  });
});

describe('a wildcard', () => {
  const wildcard = async (more = {}) => {
    const reserved = await reserve('*.%.com', more);
    const root = reserved.domain.slice(2);
    dns.zone = { [reserved.target]: ['192.0.2.1'] };
    return { ...reserved, root, challenge: `_acme-challenge.${root}` };
  };

  test('is asked for by a name below it, and needs a record for its certificate, too', async () => {
    const { id, domain, target, acmeTarget, challenge } = await wildcard();
    dns.zone[domain] = { cname: target };
    dns.zone[challenge] = { cname: acmeTarget ?? '' };
    dns.questions.length = 0;
    expect(await check(id)).toMatchObject({
      isReady: true,
      message: 'The records are right.',
      records: [
        { name: domain, expected: target, state: 'OK' },
        { name: challenge, type: 'CNAME', expected: acmeTarget, found: [acmeTarget], state: 'OK' },
      ],
    });
    const [, probe] = /^CNAME (check-.*)$/m.exec(dns.questions.join('\n')) ?? [];
    await check(id);
    expect(probe).toMatch(/^check-[a-z0-9]{12}\.shop/);
    expect(dns.questions.filter((question) => question === `CNAME ${probe}`)).toHaveLength(1);
  });

  test('says which of its records are not right', async () => {
    const { id, domain, target, challenge } = await wildcard();
    dns.zone[domain] = { cname: target };
    expect(await check(id)).toMatchObject({
      isReady: false,
      message: '1 record is missing.',
      records: [
        { state: 'OK' },
        {
          ...{ state: 'MISSING', found: [target] },
          message: `${challenge} has no record of its own yet; that of the wildcard answers in its place.`,
        },
      ],
    });
    dns.zone[challenge] = { cname: 'other.example' };
    delete dns.zone[domain];
    expect(await check(id)).toMatchObject({
      message: '1 record is missing, 1 record is wrong.',
      records: [{ state: 'MISSING' }, { state: 'WRONG', found: ['other.example'] }],
    });
    dns.zone[challenge] = 'SERVFAIL';
    expect((await check(id)).message).toBe('1 record is missing, 1 record could not be looked up.');
  });

  test('is wrong when only the star itself has the record', async () => {
    const { id, domain, target } = await wildcard();
    dns.zone[domain] = { cname: target };
    dns.isLiteral = true;
    const answer = await check(id);
    expect(answer.records[0]).toMatchObject({ name: domain, state: 'WRONG' });
    expect(answer.records[0].message).toMatch(
      /itself is right, but names below it, such as check-.* do not follow it\.$/,
    );
  });

  test('needs no record for a certificate that was uploaded', async () => {
    const root = `shop${reservedCount + 1}.com`;
    const { certificate_pem, private_key_pem } = await issue({ names: [`*.${root}`] });
    const { body, text } = await account.call('POST', '/tls_certificates', { certificate_pem, private_key_pem });
    expect(body.id, text).toBeDefined();
    const { id, domain, target } = await wildcard({ certificate_id: body.id });
    dns.zone[domain] = { cname: target };
    expect(await check(id)).toMatchObject({ isReady: true, records: [{ name: domain, state: 'OK' }] });
  });
});

test('a name below the base domain needs no records, and nobody is asked', async () => {
  const { id, domain } = await reserve('%.tunnel.localhost');
  dns.questions.length = 0;
  expect(await check(id)).toEqual({
    isReady: true,
    message: `${domain} is a name of the gateway’s own; it needs no records.`,
    records: [],
  });
  expect(dns.questions).toEqual([]);
});

test('a name server that is silent, or not there, leaves it open', async () => {
  const domain = { domain: 'a.example.com', cnameTarget: 'x.cname.example', acmeChallengeCnameTarget: null };
  const ask = (servers: string[]) =>
    withDns({ servers, timeoutMs: 20 }, (asked) => checkDomain(asked, { ...domain, isCertificateWanted: true }));
  dns.zone = { 'a.example.com': 'silent' };
  expect(await ask([dns.address])).toMatchObject({
    isReady: false,
    message: '1 record could not be looked up.',
    records: [{ state: 'UNKNOWN', message: 'a.example.com could not be looked up: no name server answered in time.' }],
  });
  const gone = await startDnsServer();
  await gone.close();
  expect((await ask([gone.address])).records).toMatchObject([{ state: 'UNKNOWN' }]);
});

test.each([
  ['192.0.2.53', ['192.0.2.53']],
  ['192.0.2.53:5353, 2001:db8::53,[2001:db8::53]:53', ['192.0.2.53:5353', '2001:db8::53', '[2001:db8::53]:53']],
  ['', []],
])('DNS_SERVERS may be %j', (servers, read) => {
  expect(readConfig({ DNS_SERVERS: servers }, root).dnsServers).toEqual(read);
});

test.each(['ns.example.com', '192.0.2.53:0', '192.0.2.53:65536', '192.0.2', '[192.0.2.53', 'udp://192.0.2.53'])(
  'DNS_SERVERS must not be %j',
  (servers) => {
    expect(() => readConfig({ DNS_SERVERS: servers }, root)).toThrow(
      `DNS_SERVERS must be IP addresses, as 10.0.0.2, 10.0.0.2:5353 or [fd00::2]:53: "${servers}" is none`,
    );
  },
);

test('only domains of the account are checked', async () => {
  const { id } = await reserve();
  const other = await gateway.newAccount();
  dns.questions.length = 0;
  for (const strange of [id, newId('rd'), 'nonsense'])
    expect((await check(strange, other)).error).toMatchObject({
      message: 'There is no reserved domain with this id.',
      extensions: { code: 'NOT_FOUND' },
    });
  expect(dns.questions).toEqual([]);
});

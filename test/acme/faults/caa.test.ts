// CAA records that forbid what the authority would be asked for: nothing is ordered, and the text says what to change.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DnsEntry } from '../../support/dns-server.ts';
import { type CertificateLab, startCertificateLab } from '../lab.ts';

let lab: CertificateLab;
beforeAll(async () => {
  lab = await startCertificateLab({ authority: { caaIdentities: ['ca.test', 'ca.example'] } });
});
afterAll(() => lab?.stop());

let count = 0;
const newZone = () => `caa-${++count}.com`;

describe('CAA records', () => {
  test.each<{ what: string; records: string[] }>([
    { what: 'allow the authority', records: ['0 issue "other.test"', '0 issue "ca.test"'] },
    { what: 'allow it by its other name, in other letters', records: ['0 issue "CA.Example"'] },
    { what: 'forbid wildcards only', records: ['0 issue "ca.test"', '0 issuewild ";"'] },
    { what: 'are about something else', records: ['0 iodef "mailto:a@example.com"', '0 tbs "unknown"'] },
    { what: 'allow its method', records: ['0 issue "ca.test; validationmethods=dns-01,http-01"'] },
  ])('that $what are in nobody’s way', async ({ records }) => {
    const zone = newZone();
    lab.dns.zone[zone] = { caa: records };
    await lab.reach((await lab.begin(`app.${zone}`)).id, 'ISSUED');
  });

  test('that allow this account are in nobody’s way', async () => {
    const zone = newZone();
    await lab.reach((await lab.begin(`first.${zone}`)).id, 'ISSUED');
    lab.dns.zone[zone] = { caa: [`0 issue "ca.test; accounturi=${lab.authority.accountUrls[0]}"`] };
    await lab.reach((await lab.begin(`app.${zone}`)).id, 'ISSUED');
  });

  test.each<{ what: string; entry: DnsEntry; code: number; says: string; label?: string }>([
    {
      what: 'allow another authority',
      entry: { caa: ['0 issue "other.test"', '0 issue "third.test; a=b"'] },
      code: 26000,
      says: 'do not allow ca.test to issue for app.ZONE: they allow "other.test", "third.test; a=b". Add a record: 0 issue "ca.test".',
    },
    { what: 'allow nobody', entry: { caa: ['0 issue ";"'] }, code: 26000, says: 'they allow ";"' },
    { what: 'are written in capitals', entry: { caa: ['0 ISSUE "other.test"'] }, code: 26000, says: '"other.test"' },
    {
      what: 'allow no wildcards',
      entry: { caa: ['0 issue "ca.test"', '0 issuewild "other.test"'] },
      code: 26000,
      says: 'issue for *.ZONE: they allow "other.test". Add a record: 0 issuewild "ca.test".',
      label: '*',
    },
    {
      what: 'allow another account',
      entry: { caa: ['0 issue "ca.test; accounturi=https://ca.test/account/other"'] },
      code: 26001,
      says: 'allow other accounts only; the one of this gateway is https://127.0.0.1:',
    },
    {
      what: 'have a critical property that is unknown',
      entry: { caa: ['0 issue "ca.test"', '128 tbs "x"'] },
      code: 26002,
      says: 'has the critical property tbs',
    },
    {
      what: 'allow other methods',
      entry: { caa: ['0 issue "ca.test; validationmethods=dns-01"'] },
      code: 26004,
      says: 'allow dns-01 only; this gateway would use http-01',
    },
    { what: 'nobody can look up', entry: 'SERVFAIL', code: 26027, says: 'could not be looked up: the name servers' },
  ])('that $what', async ({ entry, code, says, label = 'app' }) => {
    const zone = newZone();
    lab.dns.zone[zone] = entry;
    const { id, domain } = await lab.begin(`${label}.${zone}`);
    const { errorCode, message } = await lab.reach(id, 'FAILED_RETRYING');
    expect(errorCode).toBe(`ERR_GATEWAY_${code}`);
    expect(message).toContain(
      `CAA records of ${zone}`.replace(/^CAA records/, code === 26002 ? 'CAA record' : 'CAA records'),
    );
    expect(message).toContain(says.replaceAll('ZONE', zone));
    expect(lab.authority.countOrders(domain)).toBe(0);
    delete lab.dns.zone[zone];
    expect(await lab.retry(id)).toBeUndefined();
    await lab.reach(id, 'ISSUED');
  });
});

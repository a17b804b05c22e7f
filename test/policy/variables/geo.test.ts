// Where visitors are, by the databases of the operator.

import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GeoDatabases, openGeoDatabases } from '../../../src/net/geo-databases.ts';
import { dryRun } from '../../../src/policy/dry-run/dry-run.ts';
import { mmdbOf } from '../../support/mmdb.ts';
import { action, onRequest } from '../documents/support.ts';

const log = pino({ level: 'silent' });
const owner = { accountId: 'ac_1', proto: 'https' } as const;

const germany = { iso_code: 'DE', is_in_european_union: true, names: { en: 'Germany', de: 'Deutschland' } };
const places = {
  '198.51.100.0/25': {
    city: { names: { en: 'Jena', de: 'Jena' } },
    continent: { code: 'EU', names: { en: 'Europe' } },
    country: germany,
    location: { accuracy_radius: 20, latitude: 50.9, longitude: -11.5, metro_code: 7, time_zone: 'Europe/Berlin' },
    postal: { code: '07743' },
    registered_country: { iso_code: 'CH', names: { en: 'Switzerland' } },
    subdivisions: [{ iso_code: 'TH', names: { en: 'Thuringia' } }],
  },
  '2001:db8:1::/48': { country: { iso_code: 'US', names: { en: 'United States' } } },
};
const networks = {
  '198.51.0.0/16': { autonomous_system_number: 64500, autonomous_system_organization: 'Example Net' },
};

let directory: string;
let files: string[];
let databases: GeoDatabases;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'geo-'));
  files = [join(directory, 'places.mmdb'), join(directory, 'networks.mmdb')];
  await writeFile(files[0] as string, mmdbOf('Test-City', places));
  await writeFile(files[1] as string, mmdbOf('Test-ASN', networks));
  databases = await openGeoDatabases(files, log, 10);
});
afterAll(async () => {
  databases?.close();
  await rm(directory, { recursive: true, force: true });
});

/** What an expression is for a visitor. */
async function shown(expression: string, clientIp: string, locate: GeoDatabases['find'] | undefined = databases.find) {
  const policy = onRequest([action('log', { metadata: { is: `\${${expression}}` } })]);
  const request = { url: 'https://app.example.com/', clientIp };
  const { problems, notes } = await dryRun(JSON.stringify(policy), owner, request, undefined, { locate });
  expect(problems).toEqual([]);
  return (notes[0] as { is: unknown }).is;
}

describe('a visitor', () => {
  test.each([
    ['conn.geo.city', 'Jena'],
    ['conn.geo.country', 'Germany'],
    ['conn.geo.country_code', 'DE'],
    ['conn.geo.latitude', '50.9'],
    ['double(conn.geo.longitude) < 0.0', true],
    ['conn.geo.radius', '20'],
    ['conn.geo.subdivision', 'Thuringia'],
    ['conn.Geo.CountryCode + conn.Geo.LatLongRadiusKm', 'DE20'],
    ['conn.client_ip.geo.location.continent', 'Europe'],
    ['conn.client_ip.geo.location.is_eu', true],
    ['conn.client_ip.geo.location.metro_code', '7'],
    ['conn.client_ip.geo.location.postal_code', '07743'],
    ['conn.client_ip.geo.location.timezone', 'Europe/Berlin'],
    ['conn.client_ip.geo.registered_location.country', 'Switzerland'],
    ['conn.client_ip.geo.registered_location.is_eu', false],
    ['conn.client_ip.as.number', 64500],
    ['conn.client_ip.as.organization', 'Example Net'],
    ['conn.client_ip.isPrivateIp()', false],
  ])('%s', async (expression, value) => {
    expect(await shown(expression, '198.51.100.7')).toBe(value);
  });

  test('whose address is in another half of the network, of IPv6, or in none', async () => {
    const known = '[conn.geo.country_code, conn.client_ip.as.organization]';
    expect(await shown(known, '198.51.100.200')).toEqual(['', 'Example Net']);
    expect(await shown(known, '2001:db8:1::5')).toEqual(['US', '']);
    expect(await shown(known, '2001:db8:2::5')).toEqual(['', '']);
    expect(await shown(`${known} + [string(conn.client_ip.as.number)]`, '10.0.0.1')).toEqual(['', '', '0']);
  });

  test('of whom nothing is known, as there are no databases', async () => {
    const all = '[conn.geo.country_code, conn.client_ip.geo.location.city, string(conn.client_ip.as.number)]';
    expect(await shown(all, '198.51.100.7', () => databases.find(''))).toEqual(['', '', '0']);
    const none = await dryRun(JSON.stringify(onRequest([action('log', { metadata: { is: `\${${all}}` } })])), owner, {
      url: 'https://app.example.com/',
      clientIp: '198.51.100.7',
    });
    expect(none.notes).toEqual([{ is: ['', '', '0'] }]);
  });
});

test('files that change are read again; what was read stays when a new one is broken', async () => {
  const [file = ''] = files;
  const country = () => databases.find('198.51.100.7').location.country;
  expect(country()).toBe('Germany');
  await writeFile(`${file}.new`, 'no database');
  await rename(`${file}.new`, file);
  const moved = { '198.51.100.0/24': { country: { iso_code: 'FR', names: { en: 'France' } } } };
  await expect(openGeoDatabases([file], log)).rejects.toThrow(`${file} cannot be read as a database of addresses`);
  expect(country()).toBe('Germany');
  await writeFile(`${file}.new`, mmdbOf('Test-City', moved));
  await rename(`${file}.new`, file);
  await expect.poll(country).toBe('France');
});

test('a file that is not there is an error at the start', async () => {
  const file = join(directory, 'missing.mmdb');
  await expect(openGeoDatabases([file], log)).rejects.toThrow(`${file} cannot be read as a database of addresses`);
});

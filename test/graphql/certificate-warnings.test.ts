// Who is warned of certificates, and when.

import { beforeEach, describe, expect, test } from 'vitest';
import type { Prisma } from '../../src/store/generated/prisma/client.ts';
import { newId } from '../../src/store/ids.ts';
import { type Account, sharedGateway } from '../support/gateway/gateway.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const gateway = await sharedGateway();
const { prisma } = gateway.app;
let account: Account;
beforeEach(async () => {
  account = await gateway.newAccount();
});

const inDays = (days: number) => new Date(Date.now() + days * DAY);
let reserved = 0;

interface Given {
  /** Days until its certificate expires; without, it has none. */
  days?: number;
  /** What renews it; without, nothing does. */
  managed?: Partial<Prisma.ManagedCertificateUncheckedCreateInput>;
}

/** A domain as the database has it. The certificate is none that anybody could be shown. */
async function reserve({ days, managed }: Given): Promise<{ id: string; domain: string; certificateId: string }> {
  const { accountId } = account;
  const domain = `${++reserved}.warned-${accountId.slice(-6).toLowerCase()}.com`;
  const [id, certificateId, managedCertificateId] = [newId('rd'), newId('cert'), newId('mcert')];
  await prisma.reservedDomain.create({ data: { id, accountId, domain, cnameTarget: `${id}.cname.example` } });
  if (managed)
    await prisma.managedCertificate.create({
      // Nothing is due, so that the gateway leaves it as it is.
      data: {
        ...{ id: managedCertificateId, domainId: id, accountId, names: [domain] },
        privateKeyType: 'ecdsa',
        nextAt: null,
        ...managed,
      },
    });
  if (days !== undefined) {
    await prisma.tlsCertificate.create({
      data: {
        ...{
          id: certificateId,
          accountId,
          certificatePem: '',
          privateKey: '',
          subject: {},
          dnsNames: [domain],
          ips: [],
        },
        ...{
          issuerCommonName: 'a test',
          serialNumber: '01',
          privateKeyType: 'ecdsa',
          keyUsages: [],
          extendedKeyUsages: [],
        },
        ...{
          notBefore: inDays(-60),
          notAfter: inDays(days),
          managedCertificateId: managed ? managedCertificateId : null,
        },
      },
    });
    await prisma.reservedDomain.update({ where: { id }, data: { certificateId } });
  }
  return { id, domain, certificateId };
}

interface Warning {
  domainId: string;
  domain: string;
  notAfter: string | null;
  state: string | null;
}

async function warnings(of = account): Promise<Warning[]> {
  const { body } = await of.graphql('{ certificateWarnings { domainId domain notAfter state } }');
  expect(body.errors).toBeUndefined();
  return body.data.certificateWarnings;
}

describe('there is a warning of', () => {
  test.each<[string, Given]>([
    ['a certificate without renewal in its last 30 days', { days: 29.9 }],
    ['one that has expired', { days: -1 }],
    ['one that is not renewed as it fails, in its last 14 days', { days: 13.9, managed: { state: 'FAILED_RETRYING' } }],
    ['one that is not renewed as only a person can help', { days: 13.9, managed: { state: 'PAUSED' } }],
    ['one whose renewal waits for the DNS', { days: 13.9, managed: { state: 'WAITING_DNS' } }],
    ['one whose renewal is overdue', { days: 13.9, managed: { state: 'ISSUED', renewsAt: inDays(-1.1) } }],
    ['none, as obtaining it fails', { managed: { state: 'FAILED_RETRYING' } }],
    ['none, as only a person can help', { managed: { state: 'PAUSED' } }],
  ])('%s', async (_, given) => {
    const { id, domain } = await reserve(given);
    const state = given.managed?.state ?? null;
    const notAfter = given.days === undefined ? null : expect.any(String);
    expect(await warnings()).toEqual([{ domainId: id, domain, notAfter, state }]);
  });
});

describe('there is none of', () => {
  test.each<[string, Given]>([
    ['a certificate without renewal that lasts longer', { days: 30.1 }],
    ['one that fails to be renewed, and lasts longer', { days: 14.1, managed: { state: 'FAILED_RETRYING' } }],
    ['one that is being renewed', { days: 2, managed: { state: 'VALIDATING' } }],
    ['a short one whose renewal is to come', { days: 5, managed: { state: 'ISSUED', renewsAt: inDays(2) } }],
    ['one whose renewal has just become due', { days: 5, managed: { state: 'ISSUED', renewsAt: inDays(-0.5) } }],
    ['a new domain that waits for its records', { managed: { state: 'WAITING_DNS' } }],
    ['a domain for which none is to be obtained', {}],
  ])('%s', async (_, given) => {
    await reserve(given);
    expect(await warnings()).toEqual([]);
  });

  test('domains of others', async () => {
    await reserve({ days: 1 });
    expect(await warnings(await gateway.newAccount())).toEqual([]);
  });
});

test('those that expire first come first, and those without a certificate last', async () => {
  const [none, later, sooner] = [
    await reserve({ managed: { state: 'PAUSED' } }),
    await reserve({ days: 20 }),
    await reserve({ days: 3, managed: { state: 'PAUSED' } }),
  ];
  expect((await warnings()).map(({ domainId }) => domainId)).toEqual([sooner.id, later.id, none.id]);
});

test('a certificate tells which domains show it, and when the gateway renews it', async () => {
  const renewsAt = new Date(2_000_000_000_000);
  const obtained = await reserve({ days: 90, managed: { state: 'ISSUED', renewsAt } });
  const uploaded = await reserve({ days: 90 });
  const query = 'query ($id: ID!) { tlsCertificate(id: $id) { renewsAt domains { nodes { domain } } } }';
  const read = async (id: string) => (await account.graphql(query, { id })).body.data.tlsCertificate;
  const { domain } = obtained;
  const { renewsAt: at, ...rest } = await read(obtained.certificateId);
  expect(Date.parse(at)).toBe(renewsAt.getTime());
  expect(rest).toEqual({ domains: { nodes: [{ domain }] } });
  expect(await read(uploaded.certificateId)).toEqual({
    renewsAt: null,
    domains: { nodes: [{ domain: uploaded.domain }] },
  });
});

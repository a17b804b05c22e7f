// What a foreign answer or a wrong clock can put off: never for long, and a person can end it.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { noFaults } from '../../support/acme/faults.ts';
import { type CertificateLab, startCertificateLab } from '../lab.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Three thousand years, in seconds. */
const FOREVER = '99999999999';

let lab: CertificateLab;
beforeAll(async () => {
  lab = await startCertificateLab();
});
afterAll(() => lab?.stop());
afterEach(async () => {
  Object.assign(lab.authority.faults, noFaults(), { retryAfter: '0' });
  expect((await endWaits()).errors).toBeUndefined();
});

let count = 0;
const newName = () => `app.waits-${++count}.com`;
const endWaits = async () => (await lab.gateway.graphql('mutation { endCertificateWaits { certificates } }')).body;
const inMs = (time: string | null) => Date.parse(time ?? '') - lab.now();
const rowOf = (domainId: string) =>
  lab.gateway.app.prisma.managedCertificate.findUniqueOrThrow({ where: { domainId } });

test.each([
  ['the directory: 503', { directory: { status: 503, retryAfter: FOREVER } }, 6 * HOUR_MS],
  ['a nonce: 503', { newNonce: { status: 503, retryAfter: FOREVER } }, 6 * HOUR_MS],
  ['an order: a page with 503', { newOrder: { status: 503, retryAfter: FOREVER } }, 6 * HOUR_MS],
  ['an order: 429', { newOrder: { status: 429, type: 'rateLimited', retryAfter: FOREVER } }, 7 * DAY_MS],
] as const)('nobody waits for ever at %s', async (_, refuse, most) => {
  // What the authority offers is asked for anew, as after a restart.
  await lab.gateway.app.changes.publish([{ kind: 'acmeAccount', action: 'UPDATED', id: '', accountId: '' }]);
  lab.authority.faults.nonceRejection = 1; // No nonce is kept.
  Object.assign(lab.authority.faults.refuse, structuredClone(refuse));
  const { id } = await lab.begin(newName());
  lab.authority.faults.nonceRejection = 0;
  const failed = await lab.reach(id, 'FAILED_RETRYING');
  expect(inMs(failed.nextAt)).toBeGreaterThan(most - MINUTE_MS);
  expect(inMs(failed.nextAt)).toBeLessThan(most + 2 * MINUTE_MS);
  expect(await lab.retry(id)).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
  lab.authority.faults.refuse = {};
  expect((await endWaits()).data.endCertificateWaits.certificates).toBeGreaterThan(0);
  await lab.reach(id, 'ISSUED');
});

test('a certificate that is about to end waits for nobody', async () => {
  const { id } = await lab.begin(newName());
  const { notAfter, renewsAt } = await lab.reach(id, 'ISSUED');
  lab.authority.faults.refuse.newOrder = { status: 429, type: 'rateLimited', detail: 'later', retryAfter: FOREVER };
  lab.advance(inMs(renewsAt) + MINUTE_MS);
  let { nextAt } = await lab.reach(id, 'FAILED_RETRYING');
  const life = 90 * DAY_MS;
  const mark = Date.parse(notAfter ?? '') - life / 10;
  for (let tries = 0; tries < 10 && Date.parse(nextAt ?? '') < mark; tries++) {
    const before = nextAt;
    lab.advance(inMs(before) + 1);
    await expect.poll(async () => (await lab.reach(id, 'FAILED_RETRYING')).nextAt).not.toBe(before);
    ({ nextAt } = await lab.provisioning(id));
  }
  expect(Math.abs(Date.parse(nextAt ?? '') - mark), 'between the mark and the next try').toBeLessThan(5 * MINUTE_MS);
  // Somebody blocks the whole authority at the worst moment.
  const { prisma, changes } = lab.gateway.app;
  await prisma.acmeAccount.updateMany({ data: { blockedUntil: new Date(mark + 6 * HOUR_MS) } });
  await changes.publish([{ kind: 'acmeAccount', action: 'UPDATED', id: '', accountId: '' }]);
  lab.authority.faults.refuse = {};
  lab.advance(inMs(nextAt) + 1);
  await lab.reach(id, 'ISSUED');
});

test.each([
  ['a failure', { newOrder: { status: 400, type: 'malformed', detail: 'no' } }, 'FAILED_RETRYING'],
  ['a limit', { newOrder: { status: 429, type: 'rateLimited', detail: 'no', retryAfter: '3600' } }, 'FAILED_RETRYING'],
] as const)('a clock that was ahead leaves nothing waiting: %s', async (_, refuse, state) => {
  const ahead = 90 * DAY_MS;
  lab.advance(ahead);
  Object.assign(lab.authority.faults.refuse, structuredClone(refuse));
  const { id } = await lab.begin(newName());
  await lab.reach(id, state);
  lab.authority.faults.refuse = {};
  lab.advance(-ahead);
  expect(inMs((await lab.provisioning(id)).nextAt ?? new Date(lab.now()).toISOString())).toBeDefined();
  lab.wake();
  await lab.reach(id, 'ISSUED');
});

test('a clock that was ahead leaves no renewal waiting, and one that says nothing of the certificate is not hurried', async () => {
  const { id, domain } = await lab.begin(newName());
  await lab.reach(id, 'ISSUED');
  const nextAt = new Date(lab.now() + 40 * DAY_MS);
  const update = (data: object) =>
    lab.gateway.app.prisma.managedCertificate.update({ where: { domainId: id }, data: { ...data, nextAt } });
  await update({});
  lab.wake();
  await expect.poll(async () => (await rowOf(id)).nextAt?.getTime()).toBeLessThan(lab.now() + DAY_MS + MINUTE_MS);
  // Without a window of the authority, the renewal is as far away as it is.
  const { Prisma } = await import('../../../src/store/generated/prisma/client.ts');
  await update({ renewalInfo: Prisma.DbNull });
  const { leaseNumber } = await rowOf(id);
  await lab.reach((await lab.begin(newName())).id, 'ISSUED');
  expect((await rowOf(id)).leaseNumber).toBe(leaseNumber);
  expect(lab.authority.countOrders(domain)).toBe(1);
});

test('tries, and not the clock alone, end a job', async () => {
  lab.authority.faults.refuse.newOrder = { status: 403, type: 'unauthorized', detail: 'no' };
  const failing = await lab.begin(newName());
  await lab.reach(failing.id, 'FAILED_RETRYING');
  const missing = await lab.reserve(newName());
  await lab.firstLook(missing.id);
  lab.advance(40 * DAY_MS);
  await expect.poll(async () => (await lab.provisioning(failing.id)).attempts).toBe(2);
  await expect.poll(async () => (await rowOf(missing.id)).lookups).toBe(2);
  expect((await lab.provisioning(failing.id)).state).toBe('FAILED_RETRYING');
  expect((await lab.provisioning(missing.id)).state).toBe('WAITING_DNS');
  await lab.gateway.app.prisma.managedCertificate.updateMany({ data: { attempts: 19, lookups: 99 } });
  lab.advance(2 * DAY_MS);
  await lab.reach(failing.id, 'PAUSED');
  await lab.reach(missing.id, 'PAUSED');
});

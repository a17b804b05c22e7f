// A certificate whose key has got into other hands: it is revoked, and replaced in any case.

import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type CertificateLab, type Domain, startCertificateLab } from './lab.ts';

const MINUTE_MS = 60_000;
const REVOKE = `mutation ($id: ID!, $reason: CertificateRevocationReason) {
  revokeCertificate(id: $id, reason: $reason) { reservedDomain { id certificateProvisioning { revocation { reason refusal } } } } }`;

let lab: CertificateLab;
beforeAll(async () => {
  lab = await startCertificateLab();
});
afterAll(() => lab?.stop());
beforeEach(() => {
  lab.authority.faults.refuse = {};
});

let count = 0;
const revoke = async (id: string, reason?: string) => (await lab.gateway.graphql(REVOKE, { id, reason })).body;
const codeOf = async (id: string) => (await revoke(id)).errors?.[0].extensions;
const ordersOf = ({ domain }: Domain) => lab.authority.countOrders(domain);
const isRevoked = (serial: string) => lab.authority.revoked.some(({ serialNumber }) => serialNumber === serial);

async function issued(): Promise<Domain> {
  const domain = await lab.begin(`app.revoked-${++count}.com`);
  await lab.reach(domain.id, 'ISSUED');
  return domain;
}

/** The number and the key of the certificate that visitors see. */
async function seen({ domain }: Domain): Promise<{ serial: string; key: string }> {
  const socket = await eventually(() => lab.visit(domain));
  const { serialNumber, pubkey } = socket.getPeerCertificate();
  socket.destroy();
  return { serial: serialNumber, key: pubkey?.toString('hex') ?? '' };
}

/** Waits until another certificate than this one is in force, and shown. */
async function replaced(domain: Domain, before: { serial: string }): Promise<{ serial: string; key: string }> {
  return eventually(async () => {
    const shown = await seen(domain);
    expect(shown.serial).not.toBe(before.serial);
    expect((await lab.provisioning(domain.id)).state).toBe('ISSUED');
    return shown;
  });
}

/** The order of a renewal is with the authority, which does not issue yet. */
async function renewing(): Promise<Domain> {
  const domain = await issued();
  lab.authority.faults.stuckOrders = true;
  onTestFinished(() => {
    lab.authority.faults.stuckOrders = false;
  });
  await lab.gateway.app.prisma.managedCertificate.updateMany({
    where: { domainId: domain.id },
    data: { renewsAt: new Date(0), nextAt: new Date(0) },
  });
  lab.wake();
  await lab.reach(domain.id, 'FINALIZING');
  await expect.poll(() => lab.authority.orders.at(-1)?.certificate).toBeDefined();
  return domain;
}

describe('a certificate', () => {
  test('is revoked for the reason given, and replaced at once by one with another key', async () => {
    const domain = await issued();
    const before = await seen(domain);
    const { data } = await revoke(domain.id, 'KEY_COMPROMISE');
    expect(data.revokeCertificate.reservedDomain.certificateProvisioning.revocation).toEqual({
      ...{ reason: 'KEY_COMPROMISE', refusal: null },
    });
    const after = await replaced(domain, before);
    expect(after.key).not.toBe(before.key);
    expect(lab.authority.revoked).toContainEqual({ serialNumber: before.serial, reason: 1 });
    expect(isRevoked(after.serial)).toBe(false);
    expect(ordersOf(domain)).toBe(2);
    expect(await lab.provisioning(domain.id)).toMatchObject({ revocation: null, errorCode: null, message: '' });
  });

  test('is revoked as superseded where no reason is given', async () => {
    const domain = await issued();
    const { serial } = await seen(domain);
    await revoke(domain.id);
    await expect.poll(() => lab.authority.revoked).toContainEqual({ serialNumber: serial, reason: 4 });
  });

  test('is replaced while the authority does not revoke, and revoked when it does again', async () => {
    const domain = await issued();
    const before = await seen(domain);
    lab.authority.faults.refuse.revokeCert = { status: 503, type: 'serverInternal', detail: 'busy' };
    await revoke(domain.id);
    const after = await replaced(domain, before);
    await expect.poll(async () => (await lab.provisioning(domain.id)).message).toContain('is not revoked yet');
    expect(await lab.provisioning(domain.id)).toMatchObject({
      message: expect.stringContaining('busy'),
      revocation: { reason: 'SUPERSEDED', refusal: null },
    });
    expect(await codeOf(domain.id)).toMatchObject({ code: 'CONFLICT', errorCode: 'ERR_GATEWAY_90385' });
    lab.authority.faults.refuse = {};
    lab.advance(11 * MINUTE_MS);
    await expect.poll(() => isRevoked(before.serial)).toBe(true);
    await expect.poll(async () => (await lab.provisioning(domain.id)).revocation).toBeNull();
    expect(isRevoked(after.serial)).toBe(false);
    expect(await lab.provisioning(domain.id)).toMatchObject({ state: 'ISSUED', message: '', errorCode: null });
    expect(ordersOf(domain)).toBe(2);
  });

  test('is revoked and replaced once the authority, which was away, is back', async () => {
    const domain = await issued();
    const before = await seen(domain);
    const away = { status: 502 };
    lab.authority.faults.refuse = { directory: away, newNonce: away, newOrder: away, revokeCert: away };
    await revoke(domain.id);
    await lab.reach(domain.id, 'FAILED_RETRYING');
    expect(isRevoked(before.serial)).toBe(false);
    lab.authority.faults.refuse = {};
    lab.advance(2 * MINUTE_MS);
    await replaced(domain, before);
    expect(isRevoked(before.serial)).toBe(true);
  });

  test('that the authority does not revoke is replaced all the same, and its words are told', async () => {
    const domain = await issued();
    const before = await seen(domain);
    lab.authority.faults.refuse.revokeCert = { status: 403, type: 'unauthorized', detail: 'not yours' };
    await revoke(domain.id);
    await replaced(domain, before);
    expect(isRevoked(before.serial)).toBe(false);
    const refused = { reason: 'SUPERSEDED', refusal: 'The certificate authority said: not yours' };
    expect((await lab.provisioning(domain.id)).revocation).toEqual(refused);
    // The one that took its place can be revoked.
    lab.authority.faults.refuse = {};
    expect(await codeOf(domain.id)).toBeUndefined();
  });

  test('whose revocation was answered but not stored, as by a crash, is replaced once', async () => {
    const domain = await issued();
    const before = await seen(domain);
    let asked = 0;
    lab.authority.faults.onRequest = (resource, moment) => {
      if (resource !== 'revokeCert' || moment !== 'answered' || ++asked > 1) return undefined;
      // Another process takes the job, as after the end of the lease of one that died.
      return lab.gateway.app.prisma.managedCertificate
        .updateMany({ where: { domainId: domain.id }, data: { leaseNumber: { increment: 1 }, leaseUntil: null } })
        .then(() => undefined);
    };
    onTestFinished(() => {
      lab.authority.faults.onRequest = undefined;
    });
    await revoke(domain.id);
    await replaced(domain, before);
    expect(asked).toBe(2);
    expect(ordersOf(domain)).toBe(2);
    expect(await lab.provisioning(domain.id)).toMatchObject({ revocation: null, attempts: 0 });
  });

  test('is revoked while its renewal is under way, whose order goes on', async () => {
    const domain = await renewing();
    const before = await seen(domain);
    await revoke(domain.id);
    await expect.poll(() => isRevoked(before.serial)).toBe(true);
    lab.authority.faults.stuckOrders = false;
    lab.wake();
    const after = await replaced(domain, before);
    expect(isRevoked(after.serial)).toBe(false);
    expect(ordersOf(domain)).toBe(2);
  });

  test('is revoked, and not the one that was issued meanwhile', async () => {
    const domain = await renewing();
    const before = await seen(domain);
    lab.authority.faults.refuse.revokeCert = { status: 500, type: 'serverInternal', detail: 'busy' };
    await revoke(domain.id);
    lab.authority.faults.stuckOrders = false;
    const after = await replaced(domain, before);
    lab.authority.faults.refuse = {};
    lab.advance(11 * MINUTE_MS);
    await expect.poll(() => isRevoked(before.serial)).toBe(true);
    expect(isRevoked(after.serial)).toBe(false);
    expect(ordersOf(domain)).toBe(2);
  });

  test('is revoked although the kind of its key was changed before that was done', async () => {
    const domain = await issued();
    const before = await seen(domain);
    lab.authority.faults.refuse.revokeCert = { status: 500, type: 'serverInternal', detail: 'busy' };
    await revoke(domain.id);
    await replaced(domain, before);
    const policy = { certificate_management_policy: { private_key_type: 'rsa' } };
    await lab.gateway.call('PATCH', `/reserved_domains/${domain.id}`, policy);
    lab.authority.faults.refuse = {};
    lab.advance(11 * MINUTE_MS);
    await expect.poll(() => isRevoked(before.serial)).toBe(true);
    await lab.reach(domain.id, 'ISSUED');
  });
});

describe('it is a conflict to revoke', () => {
  test('where there is no certificate yet', async () => {
    const { id } = await lab.reserve(`app.revoked-${++count}.com`);
    expect(await codeOf(id)).toMatchObject({ code: 'CONFLICT', errorCode: 'ERR_GATEWAY_90384' });
  });

  test('where the policy was deleted', async () => {
    const { id } = await issued();
    await lab.gateway.call('DELETE', `/reserved_domains/${id}/certificate_management_policy`);
    expect(await codeOf(id)).toMatchObject({ code: 'CONFLICT', errorCode: 'ERR_GATEWAY_90381' });
  });

  test('before the time until which the authority wants no requests', async () => {
    const { id } = await issued();
    const until = (blockedUntil: Date | null) =>
      lab.gateway.app.prisma.acmeAccount.updateMany({ data: { blockedUntil } });
    await until(new Date(lab.now() + MINUTE_MS));
    expect(await codeOf(id)).toMatchObject({ code: 'CONFLICT', errorCode: 'ERR_GATEWAY_90383' });
    await until(null);
    expect(await codeOf(id)).toBeUndefined();
  });

  test('what is no domain of the account', async () => {
    expect(await codeOf('rd_unknown')).toMatchObject({ code: 'NOT_FOUND' });
  });
});

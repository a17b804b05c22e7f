// The gateway's account gets another key, whatever it is doing at this moment.

import { describe, expect, onTestFinished, test } from 'vitest';
import { onServer } from '../support/gateway/gateway.ts';
import { type CertificateLab, type LabOptions, startCertificateLab } from './lab.ts';

const MINUTE_MS = 60_000;

async function startLab(options?: LabOptions): Promise<CertificateLab> {
  const lab = await startCertificateLab(options);
  onTestFinished(() => lab.stop());
  return lab;
}

test('what all accounts share is for admins of the first one alone', async () => {
  const { gateway } = await labWithAccount();
  const tenant = await gateway.newAccount();
  const before = await gateway.app.prisma.acmeAccount.findMany();
  for (const name of ['changeAcmeAccountKey', 'replaceAcmeAccount', 'endCertificateWaits']) {
    const { body } = await tenant.graphql(`mutation { ${name} { __typename } }`);
    expect(body.errors, name).toMatchObject([{ extensions: { code: 'FORBIDDEN', errorCode: 'ERR_GATEWAY_90366' } }]);
  }
  expect(await gateway.app.prisma.acmeAccount.findMany()).toEqual(before);
});

/** A gateway that has an account, as it has obtained a certificate. */
async function labWithAccount(): Promise<CertificateLab> {
  const lab = await startLab();
  await obtain(lab, 'first.example.com');
  return lab;
}

/** @returns the job of a domain once its certificate is there. */
async function obtain(lab: CertificateLab, name: string) {
  const { id } = await lab.begin(name);
  return lab.reach(id, 'ISSUED');
}

const change = async (lab: CertificateLab) =>
  (await lab.gateway.graphql('mutation { changeAcmeAccountKey { isStored } }')).body;
const stored = ({ gateway: { app } }: CertificateLab) => app.prisma.acmeAccount.findFirstOrThrow();
const countOf = ({ authority }: CertificateLab, resource: string) =>
  authority.requests.filter((name) => name === resource).length;

/** Changes the key, and waits until that is done. */
async function changed(lab: CertificateLab): Promise<void> {
  const [before] = lab.authority.accountThumbprints;
  expect(await change(lab)).toEqual({ data: { changeAcmeAccountKey: { isStored: true } } });
  await expectChanged(lab, before);
}

async function expectChanged(lab: CertificateLab, before: string | undefined): Promise<void> {
  await expect.poll(async () => (await stored(lab)).nextPrivateKey).toBeNull();
  expect(lab.authority.accountThumbprints).toHaveLength(1);
  expect(lab.authority.accountThumbprints[0]).not.toBe(before);
}

/** A promise for somebody else to keep. */
function pending(): { kept: Promise<void>; keep(): void } {
  let keep = () => {};
  const kept = new Promise<void>((resolve) => {
    keep = resolve;
  });
  return { kept, keep };
}

/** Holds requests of this kind once they have come, before the authority looks at them. */
function hold({ authority: { faults } }: CertificateLab, held: string): { release(): void; isHeld(): boolean } {
  const { kept, keep } = pending();
  let isHeld = false;
  faults.onRequest = (resource, moment) => {
    if (resource !== held || moment !== 'asked') return undefined;
    isHeld = true;
    return kept.then(() => undefined);
  };
  return { release: keep, isHeld: () => isHeld };
}

// Which database it has makes no difference to one gateway alone.
describe.skipIf(onServer)('the account', () => {
  test('gets another key at once, with which certificates are obtained, also after a second change', async () => {
    const lab = await labWithAccount();
    await changed(lab);
    await obtain(lab, 'second.example.com');
    await changed(lab);
    await obtain(lab, 'third.example.com');
    expect(countOf(lab, 'keyChange')).toBe(2);
  });

  test('has no key to change before there is one', async () => {
    const lab = await startLab();
    expect((await change(lab)).errors[0].extensions).toMatchObject({
      ...{ code: 'CONFLICT', errorCode: 'ERR_GATEWAY_90386' },
    });
  });

  test('goes on with its new key when nobody stored that the authority has it, as after a crash', async () => {
    const lab = await labWithAccount();
    let during: Awaited<ReturnType<typeof stored>> | undefined;
    lab.authority.faults.onRequest = async (resource, moment) => {
      if (resource === 'keyChange' && moment === 'answered') during = await stored(lab);
    };
    await changed(lab);
    const { privateKey, nextPrivateKey } = during ?? expect.fail('it was not asked for');
    expect(nextPrivateKey).not.toBeNull();
    const [key] = lab.authority.accountThumbprints;
    await lab.gateway.app.prisma.acmeAccount.updateMany({ data: { privateKey, nextPrivateKey } });
    await change(lab);
    await expect.poll(async () => (await stored(lab)).nextPrivateKey).toBeNull();
    expect(lab.authority.accountThumbprints).toEqual([key]);
    expect(countOf(lab, 'keyChange')).toBe(1);
    await obtain(lab, 'second.example.com');
  });

  test('keeps its old key where the authority refuses, and the log says so', async () => {
    const lab = await labWithAccount();
    lab.authority.faults.refuse.keyChange = { status: 403, type: 'unauthorized', detail: 'not today' };
    const before = lab.authority.accountThumbprints;
    await change(lab);
    await expect.poll(() => lab.gateway.logs.some((line) => line.includes('not today'))).toBe(true);
    await expect.poll(async () => (await stored(lab)).nextPrivateKey).toBeNull();
    expect(lab.authority.accountThumbprints).toEqual(before);
    expect(await obtain(lab, 'second.example.com')).toMatchObject({ attempts: 0 });
  });

  test('goes on with its old key while the authority does not change it, which is tried again', async () => {
    const lab = await labWithAccount();
    lab.authority.faults.refuse.keyChange = { status: 500, type: 'serverInternal', detail: 'busy' };
    const [before] = lab.authority.accountThumbprints;
    await change(lab);
    await expect.poll(() => countOf(lab, 'keyChange')).toBe(1);
    expect(await obtain(lab, 'second.example.com')).toMatchObject({ attempts: 0 });
    expect((await stored(lab)).nextPrivateKey).not.toBeNull();
    lab.authority.faults.refuse = {};
    await change(lab);
    await expectChanged(lab, before);
    await obtain(lab, 'third.example.com');
  });

  test('gets its new key with the next certificate where the authority was away', async () => {
    const lab = await labWithAccount();
    const [before] = lab.authority.accountThumbprints;
    lab.authority.faults.refuse.directory = { status: 502 };
    await change(lab);
    await expect.poll(() => lab.gateway.logs.some((line) => line.includes('cannot be opened now'))).toBe(true);
    lab.authority.faults.refuse = {};
    await obtain(lab, 'second.example.com');
    await expectChanged(lab, before);
  });
});

describe.skipIf(onServer)('no domain fails when the key is changed', () => {
  test('while an order is on its way, signed with the old key', async () => {
    const lab = await labWithAccount();
    const { release, isHeld } = hold(lab, 'newOrder');
    const { id } = await lab.begin('second.example.com');
    await expect.poll(isHeld).toBe(true);
    await changed(lab);
    release();
    expect(await lab.reach(id, 'ISSUED', 'FAILED_RETRYING')).toMatchObject({ state: 'ISSUED', attempts: 0 });
  });

  test.each(['app.second.com', '*.second.com'])(
    'before the authority is told that %s answers: it answers anew',
    async (name) => {
      const lab = await labWithAccount();
      lab.authority.faults.refuse.challenge = { status: 503, type: 'serverInternal', detail: 'busy' };
      const { id } = await lab.begin(name);
      await expect.poll(async () => (await lab.provisioning(id)).message).toContain('busy');
      expect((await lab.provisioning(id)).state).toBe('VALIDATING');
      await changed(lab);
      lab.authority.faults.refuse = {};
      lab.advance(2 * MINUTE_MS);
      expect(await lab.reach(id, 'ISSUED', 'FAILED_RETRYING')).toMatchObject({ state: 'ISSUED', attempts: 0 });
      expect(lab.authority.countOrders(name)).toBe(1);
    },
  );

  test.each([false, true])(
    'between the word to the authority and its look: it is ordered again; failed challenges stay: %s',
    async (keepsFailedChallenges) => {
      const lab = await labWithAccount();
      const { kept, keep } = pending();
      let isLooking = false;
      Object.assign(lab.authority.faults, { keepsFailedChallenges });
      lab.authority.faults.onValidation = () => {
        isLooking = true;
        return kept;
      };
      const { id, domain } = await lab.begin('second.example.com');
      await expect.poll(() => isLooking).toBe(true);
      await changed(lab);
      keep();
      expect(await lab.reach(id, 'ISSUED', 'FAILED_RETRYING')).toMatchObject({ state: 'ISSUED', attempts: 0 });
      expect(lab.authority.countOrders(domain)).toBe(2);
    },
  );

  test('before a revocation, which is done', async () => {
    const lab = await labWithAccount();
    const { id } = await lab.begin('second.example.com');
    await lab.reach(id, 'ISSUED');
    const { release, isHeld } = hold(lab, 'revokeCert');
    await lab.gateway.graphql('mutation ($id: ID!) { revokeCertificate(id: $id) { reservedDomain { id } } }', { id });
    await expect.poll(isHeld).toBe(true);
    await changed(lab);
    release();
    await expect.poll(() => lab.authority.revoked).toHaveLength(1);
    await expect.poll(async () => (await lab.provisioning(id)).revocation).toBeNull();
  });
});

describe.runIf(onServer)('of two gateways with one database', () => {
  test('one changes the key, and no domain fails at either of them', { timeout: 90_000 }, async () => {
    const lab = await labWithAccount();
    const other = await lab.join();
    const { release, isHeld } = hold(lab, 'newOrder');
    const names = Array.from({ length: 12 }, (_, index) => `app.many-${index}.com`);
    const domains = await Promise.all(names.map((name) => lab.begin(name)));
    await expect.poll(isHeld).toBe(true);
    await changed(lab);
    release();
    for (const { id } of domains)
      expect(await lab.reach(id, 'ISSUED', 'FAILED_RETRYING')).toMatchObject({ state: 'ISSUED', attempts: 0 });
    // Each of them goes on with the new key.
    expect((await other.graphql('mutation { changeAcmeAccountKey { isStored } }')).body.errors).toBeUndefined();
    await expect.poll(async () => (await stored(lab)).nextPrivateKey).toBeNull();
    const more = await Promise.all(names.map((name) => lab.begin(`two.${name}`)));
    for (const { id } of more) expect(await lab.reach(id, 'ISSUED')).toMatchObject({ attempts: 0 });
    expect(lab.authority.accountUrls).toHaveLength(1);
    for (const { logs } of [lab.gateway, other])
      expect(logs.filter((line) => /certificate not issued|unexpected error/.test(line))).toEqual([]);
  });
});

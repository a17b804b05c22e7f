// Authorities that want or offer something else than the operator has configured.

import { describe, expect, onTestFinished, test } from 'vitest';
import { ROOT_NAMES } from '../../support/acme/authority.ts';
import { eventually } from '../../support/eventually.ts';
import { type CertificateLab, type LabOptions, startCertificateLab } from '../lab.ts';

async function labWith(options: LabOptions): Promise<CertificateLab> {
  const lab = await startCertificateLab(options);
  onTestFinished(() => lab.stop());
  return lab;
}

const HOUR_MS = 3_600_000;
const NAME = 'app.example.com';
const EAB = { kid: 'kid-1', key: Buffer.alloc(32, 7).toString('base64url') };

test('an authority without renewal information and profiles, as older ones are, issues', async () => {
  const lab = await labWith({ authority: { hasRenewalInfo: false } });
  const { id } = await lab.begin(NAME);
  const { renewsAt, notAfter } = await lab.reach(id, 'ISSUED');
  const left = Date.parse(notAfter ?? '') - Date.parse(renewsAt ?? '');
  expect(left / (90 * 24 * HOUR_MS)).toBeGreaterThan(0.3);
  // It is asked for a window before that: there is none, and nothing changes.
  lab.advance(2 * HOUR_MS);
  await lab.reach((await lab.begin('other.example.com')).id, 'ISSUED');
  expect(await lab.provisioning(id)).toMatchObject({ state: 'ISSUED', renewsAt, attempts: 0 });
});

test('a profile that is not offered is named with those that are, and is tried again once it may be', async () => {
  const profiles = { classic: { description: 'for 90 days', days: 90 }, shortlived: { description: 'for 6', days: 6 } };
  const lab = await labWith({ authority: { profiles }, env: { ACME_PROFILE: 'tlsserver' } });
  const { id, domain } = await lab.begin(NAME);
  const failed = await lab.reach(id, 'FAILED_RETRYING');
  expect(failed).toMatchObject({
    errorCode: 'ERR_GATEWAY_26013',
    message: 'ACME_PROFILE is "tlsserver", and the certificate authority offers classic, shortlived.',
    orders: [],
  });
  expect(lab.authority.countOrders(domain)).toBe(0);
  expect(failed.nextAt, 'no person has to ask for each domain once the operator has set it right').not.toBeNull();
});

test('a profile that is offered is ordered', async () => {
  const profiles = { shortlived: { description: 'for 6', days: 6 } };
  const lab = await labWith({ authority: { profiles }, env: { ACME_PROFILE: 'shortlived' } });
  const { id } = await lab.begin(NAME);
  const { notAfter } = await lab.reach(id, 'ISSUED');
  expect(Date.parse(notAfter ?? '') - lab.now()).toBeLessThan(6 * 24 * HOUR_MS);
});

describe('of an authority with several chains', () => {
  test('that with the preferred issuer is shown to visitors', async () => {
    const lab = await labWith({ env: { ACME_PREFERRED_CHAIN: ROOT_NAMES[1] } });
    const { id } = await lab.begin(NAME);
    await lab.reach(id, 'ISSUED');
    await expectIssuedUnder(lab, 1);
  });

  test.each([
    { what: 'none has the preferred issuer', refuse: undefined, chain: 'Test Root C' },
    { what: 'that one cannot be fetched', refuse: { status: 500, type: 'serverInternal' }, chain: ROOT_NAMES[1] },
  ])('the first choice is shown where $what', async ({ refuse, chain }) => {
    const lab = await labWith({ env: { ACME_PREFERRED_CHAIN: chain } });
    if (refuse)
      lab.authority.faults.onRequest = async (resource, moment) => {
        // The first chain has been sent.
        if (resource === 'certificate' && moment === 'answered') lab.authority.faults.refuse.certificate = refuse;
      };
    const { id } = await lab.begin(NAME);
    await lab.reach(id, 'ISSUED');
    await expectIssuedUnder(lab, 0);
  });
});

/** Visits the name, whose chain must end at this root of the authority and at no other. */
async function expectIssuedUnder({ authority, visit }: CertificateLab, root: 0 | 1): Promise<void> {
  const roots = [authority.rootPem, authority.alternateRootPem] as const;
  const socket = await eventually(() => visit(NAME, { ca: roots[root] }));
  expect(socket.getPeerCertificate(true).issuerCertificate.issuer.CN).toBe(ROOT_NAMES[root]);
  socket.destroy();
  await expect(visit(NAME, { ca: roots[1 - root] })).rejects.toThrow();
}

test('an external account that is missing is asked for', async () => {
  const lab = await labWith({ authority: { eab: { [EAB.kid]: EAB.key } } });
  const { id } = await lab.begin(NAME);
  expect(await lab.reach(id, 'FAILED_RETRYING')).toMatchObject({
    errorCode: 'ERR_GATEWAY_26037',
    message: expect.stringContaining('set ACME_EAB_KID and ACME_EAB_HMAC_KEY'),
    nextAt: expect.any(String),
  });
  expect(lab.authority.requests).not.toContain('newAccount');
});

test.each([
  { what: 'id', env: { ACME_EAB_KID: 'kid-2', ACME_EAB_HMAC_KEY: EAB.key }, says: 'the key id kid-2 is unknown' },
  {
    what: 'key',
    env: { ACME_EAB_KID: EAB.kid, ACME_EAB_HMAC_KEY: Buffer.alloc(32, 8).toString('base64url') },
    says: 'its signature is wrong',
  },
])('an external account with a wrong $what is refused in the words of the authority', async ({ env, says }) => {
  const lab = await labWith({ authority: { eab: { [EAB.kid]: EAB.key } }, env });
  const { id } = await lab.begin(NAME);
  expect(await lab.reach(id, 'FAILED_RETRYING')).toMatchObject({
    errorCode: 'ERR_GATEWAY_26030',
    message: expect.stringContaining(says),
  });
});

test('an external account that is right is bound', async () => {
  const env = { ACME_EAB_KID: EAB.kid, ACME_EAB_HMAC_KEY: EAB.key };
  const lab = await labWith({ authority: { eab: { [EAB.kid]: EAB.key } }, env });
  const { id } = await lab.begin(NAME);
  await lab.reach(id, 'ISSUED');
});

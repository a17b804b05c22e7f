// What can become of an order: each way it ends without a certificate has its number and text, and none is ordered twice.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { noFaults } from '../../support/acme/faults.ts';
import { type CertificateLab, startCertificateLab } from '../lab.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let lab: CertificateLab;
beforeAll(async () => {
  lab = await startCertificateLab();
});
afterAll(() => lab?.stop());
afterEach(() => {
  Object.assign(lab.authority.faults, noFaults(), {
    ...{ retryAfter: '0', invalidOrders: undefined, invalidAuthorizations: undefined },
    ...{ wrongCertificates: undefined, offersOnlyUnknownChallenges: undefined },
  });
});

let count = 0;
/** Of a registered domain of its own, so that no limit is met. */
const newName = () => `app.orders-${++count}.com`;

describe('an order', () => {
  test('that becomes invalid says why in the words of the authority', async () => {
    lab.authority.faults.invalidOrders = 'Rechecking CAA for "example.com": forbidden';
    const { id } = await lab.begin(newName());
    expect(await lab.reach(id, 'FAILED_RETRYING')).toMatchObject({
      errorCode: 'ERR_GATEWAY_26014',
      message: 'The certificate authority said: Rechecking CAA for "example.com": forbidden',
      orders: [{ outcome: 'FAILED', errorCode: 'ERR_GATEWAY_26014' }],
    });
  });

  test.each([{ keeps: false }, { keeps: true }])(
    'whose name is not proved says why; the challenge stays pending: $keeps',
    async ({ keeps }) => {
      lab.authority.faults.keepsFailedChallenges = keeps;
      lab.authority.faults.invalidAuthorizations = '203.0.113.7: Invalid response from http://example.com/: 404';
      const { id } = await lab.begin(newName());
      expect(await lab.reach(id, 'FAILED_RETRYING')).toMatchObject({
        errorCode: 'ERR_GATEWAY_26030',
        message: 'The certificate authority said: 203.0.113.7: Invalid response from http://example.com/: 404',
      });
      lab.authority.faults.invalidAuthorizations = undefined;
      expect(await lab.retry(id)).toBeUndefined();
      await lab.reach(id, 'ISSUED');
    },
  );

  test('that is processed for ever is given up after two hours, and the next one is issued', async () => {
    lab.authority.faults.stuckOrders = true;
    const { id, domain } = await lab.begin(newName());
    await expect.poll(() => lab.authority.orders.at(-1)?.status).toBe('processing');
    lab.advance(HOUR_MS);
    await lab.reach(id, 'FINALIZING');
    lab.advance(HOUR_MS);
    expect(await lab.reach(id, 'FAILED_RETRYING')).toMatchObject({
      errorCode: 'ERR_GATEWAY_26011',
      message: 'The certificate authority did not issue in time.',
    });
    lab.authority.faults.stuckOrders = false;
    lab.advance(2 * MINUTE_MS);
    await lab.reach(id, 'ISSUED');
    expect(lab.authority.countOrders(domain)).toBe(2);
  });

  test('that was issued while the gateway did not look is used however late', async () => {
    lab.authority.faults.stuckOrders = true;
    const { id, domain } = await lab.begin(newName());
    await expect.poll(() => lab.authority.orders.at(-1)?.status).toBe('processing');
    await lab.reach(id, 'FINALIZING');
    lab.authority.faults.retryAfter = '18000'; // Five hours: longer than an order is waited for. It is asked again before.
    await expect.poll(async () => (await dueIn(id)) > 9 * MINUTE_MS).toBe(true);
    lab.authority.faults.stuckOrders = false;
    lab.advance(5.1 * HOUR_MS);
    await lab.reach(id, 'ISSUED');
    expect(lab.authority.countOrders(domain)).toBe(1);
  });

  test('that expires at the authority is placed anew', async () => {
    const ports = lab.authority.targets.httpPorts.splice(0);
    lab.authority.faults.keepsFailedChallenges = true;
    lab.authority.faults.refuse.challenge = { status: 500, type: 'serverInternal', detail: 'try later', times: 1 };
    const { id, domain } = await lab.begin(newName());
    await expect.poll(async () => (await lab.provisioning(id)).message).toContain('try later');
    for (const order of lab.authority.orders) if (order.status === 'pending') order.expires = 0;
    lab.authority.targets.httpPorts.push(...ports);
    lab.advance(2 * MINUTE_MS);
    expect(await lab.reach(id, 'FAILED_RETRYING')).toMatchObject({
      errorCode: 'ERR_GATEWAY_26009',
      message: 'The certificate authority gave the order up without a reason.',
    });
    lab.advance(20 * MINUTE_MS);
    await lab.reach(id, 'ISSUED');
    expect(lab.authority.countOrders(domain)).toBe(2);
  });

  test.each(['order', 'authorization', 'challenge', 'finalize', 'certificate'] as const)(
    'about which the authority does not answer (%s) is gone on with, and not placed again',
    async (resource) => {
      lab.authority.faults.refuse[resource] = { status: 502, times: 1 };
      const { id, domain } = await lab.begin(newName());
      await expect.poll(async () => (await lab.provisioning(id)).errorCode).toBe('ERR_GATEWAY_26032');
      const { state, nextAt, attempts, message } = await lab.provisioning(id);
      expect({ state, attempts }).toEqual({
        state: expect.stringMatching(/^(ORDER|VALIDAT|FINALIZ)ING$/),
        attempts: 0,
      });
      expect(message).toContain('502');
      expect(Date.parse(nextAt ?? '')).toBeGreaterThan(lab.now());
      expect(await lab.retry(id), 'a person may have it tried at once').toBeUndefined();
      expect(await lab.reach(id, 'ISSUED')).toMatchObject({ errorCode: null });
      expect(lab.authority.countOrders(domain)).toBe(1);
    },
  );

  test('that a person asks for again and again while it is under way is one order', async () => {
    lab.authority.faults.stuckOrders = true;
    const { id, domain } = await lab.begin(newName());
    await lab.reach(id, 'FINALIZING');
    for (let click = 0; click < 10; click++) expect(await lab.retry(id)).toBeUndefined();
    lab.authority.faults.stuckOrders = false;
    await lab.reach(id, 'ISSUED');
    expect(lab.authority.countOrders(domain)).toBe(1);
  });

  test('for a name that no challenge can prove is told of', async () => {
    lab.authority.faults.offersOnlyUnknownChallenges = true;
    const { id, domain } = await lab.begin(newName());
    expect(await lab.reach(id, 'FAILED_RETRYING')).toMatchObject({
      errorCode: 'ERR_GATEWAY_26013',
      message: `The certificate authority offers no challenge for ${domain} that this gateway can answer, only dns-persist-01.`,
    });
  });

  test('with a challenge of an unknown type beside the others is proved by one of those', async () => {
    lab.authority.faults.offersUnknownChallenges = true;
    await lab.reach((await lab.begin(newName())).id, 'ISSUED');
  });

  test('for a name that the authority rejects waits for a person', async () => {
    const name = newName();
    lab.authority.faults.rejectedNames = [name];
    const { id } = await lab.begin(name);
    expect(await lab.reach(id, 'PAUSED')).toMatchObject({
      errorCode: 'ERR_GATEWAY_26031',
      message: expect.stringContaining(`${name}: The ACME server refuses to issue a certificate for "${name}"`),
      nextAt: null,
      orders: [{ outcome: 'FAILED', errorCode: 'ERR_GATEWAY_26031' }],
    });
    lab.authority.faults.rejectedNames = [];
    expect(await lab.retry(id)).toBeUndefined();
    await lab.reach(id, 'ISSUED');
  });

  test('for a name that the authority has paused waits for whoever opens its link', async () => {
    const detail =
      'Your account is temporarily prevented from requesting certificates. Visit: https://ca.test/unpause?jwt=x';
    lab.authority.faults.refuse.newOrder = { status: 429, type: 'rateLimited', detail, times: 1 };
    const { id } = await lab.begin(newName());
    expect(await lab.reach(id, 'PAUSED')).toMatchObject({
      errorCode: 'ERR_GATEWAY_26036',
      message: expect.stringContaining('https://ca.test/unpause?jwt=x'),
    });
    expect(await lab.retry(id)).toBeUndefined();
    await lab.reach(id, 'ISSUED');
  });
});

describe('a certificate', () => {
  test.each([
    { wrong: 'names' as const, message: /^The certificate that was issued is not for app\.orders-\d+\.com\.$/ },
    {
      wrong: 'key' as const,
      message: /^The certificate that was issued is for another key than the one in the request\.$/,
    },
    { wrong: 'expired' as const, message: /^The certificate that was issued ended on .*: the clock of this gateway/ },
    { wrong: 'future' as const, message: /^The certificate that was issued is not valid before .*: the clock of this/ },
  ])('that is not as it was ordered is not shown: $wrong', async ({ wrong, message }) => {
    lab.authority.faults.wrongCertificates = wrong;
    const { id } = await lab.begin(newName());
    expect(await lab.reach(id, 'FAILED_RETRYING')).toMatchObject({
      errorCode: 'ERR_GATEWAY_26010',
      message: expect.stringMatching(message),
      notAfter: null,
    });
    lab.authority.faults.wrongCertificates = undefined;
    expect(await lab.retry(id)).toBeUndefined();
    await lab.reach(id, 'ISSUED');
  });

  test('that is not valid yet is shown once it is, and the one in force until then', async () => {
    const { id, domain } = await lab.begin(newName());
    const before = await lab.reach(id, 'ISSUED');
    // The window that the authority suggests is over by then.
    lab.advance(Date.parse(before.notAfter ?? '') - 20 * 24 * HOUR_MS - lab.now());
    lab.authority.faults.wrongCertificates = 'soon';
    await expect.poll(async () => (await lab.provisioning(id)).message).toMatch(/shown once it is valid: at /);
    expect(await lab.provisioning(id)).toMatchObject({ state: 'FINALIZING', notAfter: before.notAfter, attempts: 0 });
    lab.authority.faults.wrongCertificates = undefined;
    lab.advance(61 * MINUTE_MS);
    const after = await lab.reach(id, 'ISSUED');
    expect(Date.parse(after.notAfter ?? '')).toBeGreaterThan(Date.parse(before.notAfter ?? ''));
    expect(lab.authority.countOrders(domain), 'nothing is ordered twice').toBe(2);
  });
});

/** In how many milliseconds the next step of a domain is. */
async function dueIn(domainId: string): Promise<number> {
  const { nextAt } = await lab.gateway.app.prisma.managedCertificate.findUniqueOrThrow({ where: { domainId } });
  return (nextAt?.getTime() ?? 0) - lab.now();
}

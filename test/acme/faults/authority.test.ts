// An authority that is away, overloaded, installed anew, or wants what nobody has configured: what the status of a domain says, and
// when the authority is asked again.

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
  Object.assign(lab.authority.faults, noFaults(), { retryAfter: '0' });
});

let count = 0;
/** Of a registered domain of its own, so that no limit is met. */
const newName = () => `app.customer-${++count}.com`;

/** In how many milliseconds something is to be. */
const inMs = (time: string | null) => Date.parse(time ?? '') - lab.now();

describe('an authority', () => {
  test('that cannot be reached is asked again after a minute, and the text says so', async () => {
    lab.authority.faults.refuse.newOrder = { status: 502 };
    const { id } = await lab.begin(newName());
    const failed = await lab.reach(id, 'FAILED_RETRYING');
    expect(failed).toMatchObject({
      errorCode: 'ERR_GATEWAY_26032',
      attempts: 1,
      blockedUntil: null,
      message: expect.stringMatching(/^The certificate authority gave no proper answer: .*502/),
      orders: [{ outcome: 'failed', errorCode: 'ERR_GATEWAY_26032' }],
    });
    expect(inMs(failed.nextAt)).toBeGreaterThan(MINUTE_MS - 10_000);
    expect(inMs(failed.nextAt)).toBeLessThan(1.2 * MINUTE_MS);
    lab.authority.faults.refuse = {};
    lab.advance(2 * MINUTE_MS);
    await lab.reach(id, 'ISSUED');
  });

  test('that wants no order for hours gets none before, and nobody can have it tried', async () => {
    const detail = 'too many new orders (300) from this account in the last 3h0m0s';
    lab.authority.faults.refuse.newOrder = { status: 429, type: 'rateLimited', detail, retryAfter: '7200' };
    const { id, domain } = await lab.begin(newName());
    const failed = await lab.reach(id, 'FAILED_RETRYING');
    expect(failed).toMatchObject({
      errorCode: 'ERR_GATEWAY_26023',
      message: `The certificate authority said: ${detail}`,
    });
    expect(inMs(failed.blockedUntil)).toBeGreaterThan(2 * HOUR_MS - MINUTE_MS);
    expect(Date.parse(failed.nextAt ?? '')).toBeGreaterThanOrEqual(Date.parse(failed.blockedUntil ?? ''));
    const [error] = (await lab.retry(id)) ?? [];
    expect(error?.message).toContain(`no try before ${failed.blockedUntil?.replace(/\.\d+/, '')}`);

    lab.authority.faults.refuse = {};
    const asked = lab.authority.requests.length;
    lab.advance(HOUR_MS);
    await lab.gateway.call('PATCH', `/reserved_domains/${id}`, {
      certificate_management_policy: { private_key_type: 'rsa' },
    });
    await lab.reach((await lab.begin(newName())).id, 'ISSUED'); // Others go on meanwhile.
    expect(lab.authority.requests.length).toBeGreaterThan(asked);
    expect(lab.authority.countOrders(domain), 'a change of the policy is no way around').toBe(0);
    lab.advance(HOUR_MS + 2 * MINUTE_MS);
    await lab.reach(id, 'ISSUED');
    expect(lab.authority.countOrders(domain)).toBe(1);
  });

  test('that is overloaded is asked for nothing by any domain until the time that it says', async () => {
    lab.authority.faults.refuse.newOrder = {
      status: 503,
      type: 'rateLimited',
      detail: 'Service busy',
      retryAfter: '3600',
    };
    const { id } = await lab.begin(newName());
    const failed = await lab.reach(id, 'FAILED_RETRYING');
    expect(failed).toMatchObject({ errorCode: 'ERR_GATEWAY_26023', message: expect.stringContaining('Service busy') });
    lab.authority.faults.refuse = {};
    const asked = lab.authority.requests.length;
    const other = await lab.begin(newName());
    const waits = await lab.reach(other.id, 'FAILED_RETRYING');
    expect(waits.errorCode).toBe('ERR_GATEWAY_26032');
    expect(waits.message).toBe(`The certificate authority has asked for no requests before ${failed.blockedUntil}.`);
    expect(waits.blockedUntil).toBe(failed.blockedUntil);
    expect(await lab.retry(other.id)).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
    expect(lab.authority.requests.length).toBe(asked);
    lab.advance(1.2 * HOUR_MS);
    await lab.reach(id, 'ISSUED');
    await lab.reach(other.id, 'ISSUED');
  });

  test('that refuses 60 % of good nonces issues all the same', async () => {
    lab.authority.faults.nonceRejection = 0.6;
    const { id } = await lab.begin(newName());
    expect(await lab.reach(id, 'ISSUED')).toMatchObject({ attempts: 0 });
  });

  test('that refuses every nonce is not asked for ever', async () => {
    lab.authority.faults.nonceRejection = 1;
    const { id } = await lab.begin(newName());
    const asked = lab.authority.requests.length;
    const failed = await lab.reach(id, 'FAILED_RETRYING');
    expect(failed).toMatchObject({
      errorCode: 'ERR_GATEWAY_26013',
      message: expect.stringContaining('invalid anti-replay nonce'),
    });
    expect(lab.authority.requests.length - asked).toBeLessThan(40);
    lab.authority.faults.nonceRejection = 0;
    expect(await lab.retry(id)).toBeUndefined();
    await lab.reach(id, 'ISSUED');
  });

  test('that has forgotten the account gets one again, once for all domains', async () => {
    const domains = await Promise.all([lab.begin(newName()), lab.begin(newName()), lab.begin(newName())]);
    await Promise.all(domains.map(({ id }) => lab.reach(id, 'ISSUED')));
    lab.authority.forgetAccounts();
    expect(lab.authority.accountUrls).toEqual([]);
    const after = await Promise.all([lab.begin(newName()), lab.begin(newName()), lab.begin(newName())]);
    // Each finds it out by itself, unless another one has made the account again before.
    const states = await Promise.all(after.map(({ id }) => lab.reach(id, 'FAILED_RETRYING', 'ISSUED')));
    const failed = states.filter(({ state }) => state === 'FAILED_RETRYING');
    expect(failed.length).toBeGreaterThan(0);
    for (const { message } of failed)
      expect(message).toMatch(/^The certificate authority said: Account ".*" not found$/);
    lab.advance(2 * MINUTE_MS);
    await Promise.all(after.map(({ id }) => lab.reach(id, 'ISSUED')));
    expect(lab.authority.accountUrls).toHaveLength(1);
  });
});

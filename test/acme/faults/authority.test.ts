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

/** Waits for the next try to have failed. @param before when it was due. */
async function reachAfter(id: string, before: string | null) {
  let found = await lab.provisioning(id);
  await expect
    .poll(async () => {
      found = await lab.provisioning(id);
      return found.state === 'FAILED_RETRYING' && found.nextAt !== before;
    })
    .toBe(true);
  return found;
}

/** In how many milliseconds something is to be. */
const inMs = (time: string | null) => Date.parse(time ?? '') - lab.now();

describe('an authority', () => {
  test('that is away is asked again after a minute, then every half hour, and the names have not failed', async () => {
    lab.authority.faults.refuse.newOrder = { status: 502 };
    const { id } = await lab.begin(newName());
    const failed = await lab.reach(id, 'FAILED_RETRYING');
    expect(failed).toMatchObject({
      errorCode: 'ERR_GATEWAY_26032',
      attempts: 0,
      blockedUntil: null,
      message: expect.stringMatching(/^The certificate authority gave no proper answer: .*502/),
      orders: [{ outcome: 'FAILED', errorCode: 'ERR_GATEWAY_26032' }],
    });
    expect(inMs(failed.nextAt)).toBeGreaterThan(MINUTE_MS - 10_000);
    expect(inMs(failed.nextAt)).toBeLessThan(1.2 * MINUTE_MS);
    // As one that refuses connections: nothing is ordered.
    lab.authority.faults.refuse = { directory: { status: 502 }, newNonce: { status: 502 }, newOrder: { status: 502 } };
    for (let tries = 0; tries < 6; tries++) {
      const { nextAt } = await lab.provisioning(id);
      lab.advance(inMs(nextAt) + 1000);
      const again = await reachAfter(id, nextAt);
      expect(again).toMatchObject({ attempts: 0, errorCode: 'ERR_GATEWAY_26032' });
      expect(inMs(again.nextAt)).toBeGreaterThan(10 * MINUTE_MS);
      expect(inMs(again.nextAt)).toBeLessThan(31 * MINUTE_MS);
    }
    lab.authority.faults.refuse = {};
    lab.advance(31 * MINUTE_MS);
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

  test.each([
    ['has forgotten the account', () => lab.authority.forgetAccounts(), 1],
    ['has deactivated the account', () => lab.authority.deactivateAccounts(), 2],
  ])('that %s gets another one, once for all domains, and none of them fails', async (_, lose, accounts) => {
    const domains = await Promise.all([lab.begin(newName()), lab.begin(newName()), lab.begin(newName())]);
    await Promise.all(domains.map(({ id }) => lab.reach(id, 'ISSUED')));
    lose();
    const after = await Promise.all([lab.begin(newName()), lab.begin(newName()), lab.begin(newName())]);
    const states = await Promise.all(after.map(({ id }) => lab.reach(id, 'FAILED_RETRYING', 'PAUSED', 'ISSUED')));
    expect(states.map(({ state, attempts }) => [state, attempts])).toEqual(states.map(() => ['ISSUED', 0]));
    expect(lab.authority.accountUrls).toHaveLength(accounts);
  });

  test('that says of every account that it is gone is not given accounts for ever', async () => {
    lab.authority.faults.refuse.newOrder = { status: 400, type: 'accountDoesNotExist', detail: 'no such account' };
    const asked = lab.authority.requests.length;
    const { id } = await lab.begin(newName());
    await lab.reach(id, 'FAILED_RETRYING');
    expect(lab.authority.requests.slice(asked).filter((name) => name === 'newAccount').length).toBeLessThanOrEqual(2);
  });

  test('that has suspended the account is given another one by an admin alone', async () => {
    const detail = 'Account is suspended for abuse';
    lab.authority.faults.refuse.newOrder = { status: 403, type: 'unauthorized', detail };
    const { id } = await lab.begin(newName());
    expect(await lab.reach(id, 'PAUSED')).toMatchObject({ errorCode: 'ERR_GATEWAY_26033' });
    lab.authority.faults.refuse = {};
    const before = lab.authority.accountUrls.length;
    const { data } = (await lab.gateway.graphql('mutation { replaceAcmeAccount { isGivenUp } }')).body;
    expect(data).toEqual({ replaceAcmeAccount: { isGivenUp: true } });
    await lab.reach(id, 'ISSUED');
    expect(lab.authority.accountUrls).toHaveLength(before + 1);
  });
});

// When the ACME client is told to renew a certificate (ARI, RFC 9773).

import { describe, expect, test } from 'vitest';
import { ariCertificateId } from '../../src/acme/client/renewal-information.ts';
import { clientLab } from './client-lab.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const names = ['a.example.com'];
const lab = clientLab();

describe('the time to renew a certificate', () => {
  test.each([
    { days: 90, elapsed: 60 },
    { days: 45, elapsed: 30 },
    { days: 6, elapsed: 3 },
  ])('follows from its lifetime of $days days', async ({ days, elapsed }) => {
    await lab.restart({ lifetimeDays: days });
    const chain = await lab.certificateFor(await lab.client.newOrder({ names }));
    const window = await lab.client.renewalInfo(ariCertificateId(chain));
    const ideal = lab.now - HOUR_MS + elapsed * DAY_MS;
    expect(window?.start).toBeLessThan(ideal);
    expect(window?.start).toBeGreaterThan(ideal - 2 * DAY_MS);
    expect(window?.end).toBeGreaterThan(ideal - HOUR_MS);
    expect(window).toMatchObject({ explanationUrl: undefined, retryAfterMs: 6 * HOUR_MS });
  });

  test('is in the past when it is revoked, with a page that says why', async () => {
    const chain = await lab.certificateFor(await lab.client.newOrder({ names }));
    await lab.client.revoke(chain);
    const window = await lab.client.renewalInfo(ariCertificateId(chain));
    expect(window?.end).toBeLessThan(lab.now);
    expect(window?.explanationUrl).toMatch(/\/revoked$/);
  });

  test('may be a moment', async () => {
    const chain = await lab.certificateFor(await lab.client.newOrder({ names }));
    lab.server.faults.renewalWindow = { start: lab.now, end: lab.now };
    expect(await lab.client.renewalInfo(ariCertificateId(chain))).toMatchObject({ start: lab.now, end: lab.now });
  });

  test('that ends before it begins is no proper answer', async () => {
    const chain = await lab.certificateFor(await lab.client.newOrder({ names }));
    lab.server.faults.renewalWindow = { start: lab.now, end: lab.now - 1 };
    await expect(lab.client.renewalInfo(ariCertificateId(chain))).rejects.toMatchObject({ name: 'AcmeUnreachable' });
  });

  test('is unknown to older servers', async () => {
    await lab.restart({ hasRenewalInfo: false });
    const chain = await lab.certificateFor(await lab.client.newOrder({ names }));
    expect(await lab.client.renewalInfo(ariCertificateId(chain))).toBeUndefined();
  });

  test('of a certificate that the server does not know is refused', async () => {
    await expect(lab.client.renewalInfo('AAAA.AAAA')).rejects.toMatchObject({ name: 'AcmeProblem', status: 404 });
  });

  test('comes once: a second order that replaces the certificate is refused', async () => {
    const replaces = ariCertificateId(await lab.certificateFor(await lab.client.newOrder({ names })));
    await lab.finish(await lab.client.newOrder({ names, replaces }));
    await expect(lab.client.newOrder({ names, replaces })).rejects.toMatchObject({
      type: 'alreadyReplaced',
      status: 409,
    });
    expect(await lab.finish(await lab.client.newOrder({ names }))).toMatchObject({ status: 'valid' });
    expect(lab.server.orders.map((order) => order.replaces)).toEqual([undefined, replaces, undefined]);
  });
});

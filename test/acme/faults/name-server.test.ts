// Wildcards whose text does not come from this gateway's name server: no order is placed for them.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { visit } from '../../support/visit.ts';
import { type CertificateLab, startCertificateLab } from '../lab.ts';

let lab: CertificateLab;
beforeAll(async () => {
  lab = await startCertificateLab();
});
afterAll(() => lab?.stop());

test.each([
  ['nobody answers for the zone of challenges', 'away', {}, /has no text when it is asked for through the DNS/],
  [
    'another name server answers for it',
    'elsewhere',
    { txt: ['somebody else’s'] },
    /has other texts when it is asked for through the DNS/,
  ],
])('while %s, a wildcard is not ordered, and is told why', async (_, label, entry, text) => {
  const { 'tunnel.test': ours = '', ...others } = lab.dns.delegated;
  lab.dns.delegated = others;
  const wildcard = `*.${label}.example.com`;
  const domain = await lab.reserve(wildcard);
  if ('txt' in entry) lab.dns.zone[domain.acme_challenge_cname_target ?? ''] = { txt: entry.txt };
  lab.point(domain);
  await lab.retry(domain.id);
  const { errorCode, message } = await lab.reach(domain.id, 'FAILED_RETRYING');
  expect(errorCode).toBe('ERR_GATEWAY_26025');
  expect(message).toMatch(text);
  expect(message).toContain(`${domain.acme_challenge_cname_target} must be delegated to the name server`);
  expect(lab.authority.countOrders(wildcard)).toBe(0);

  // Once it is delegated, the next try succeeds.
  lab.dns.delegated['tunnel.test'] = ours;
  delete lab.dns.zone[domain.acme_challenge_cname_target ?? ''];
  lab.advance(5 * 60_000);
  await lab.reach(domain.id, 'ISSUED');
});

test('a text whose lookup fails is not ordered for', async () => {
  const domain = await lab.reserve('*.broken.example.com');
  const target = domain.acme_challenge_cname_target ?? '';
  lab.point(domain);
  lab.dns.zone[target] = 'SERVFAIL';
  await lab.retry(domain.id);
  expect(await lab.reach(domain.id, 'FAILED_RETRYING')).toMatchObject({
    errorCode: 'ERR_GATEWAY_26025',
    message: expect.stringMatching(/^The text of _acme-challenge\.broken\.example\.com could not be looked up: /),
  });
  expect(lab.authority.countOrders('*.broken.example.com')).toBe(0);
});

test('a challenge whose time is over is answered by nobody', async () => {
  const { prisma } = lab.gateway.app;
  const domain = await lab.begin('app.abandoned.com');
  await lab.reach(domain.id, 'ISSUED');
  const { id: managedCertificateId } = await prisma.managedCertificate.findFirstOrThrow({
    where: { domainId: domain.id },
  });
  const [token, other] = ['expired-token-0123456789abc', 'current-token-0123456789abc'];
  const common = { managedCertificateId, kind: 'http-01', name: 'app.abandoned.com', value: 'of a challenge' };
  await prisma.acmeChallenge.createMany({
    data: [
      { ...common, id: 'chal_1', token, expiresAt: new Date(Date.now() - 1) },
      { ...common, id: 'chal_2', token: other, expiresAt: new Date(Date.now() + 60_000) },
    ],
  });
  const [port] = lab.authority.targets.httpPorts;
  const answer = (token: string) =>
    visit(`http://app.abandoned.com/.well-known/acme-challenge/${token}`, `127.0.0.1:${port}`);
  expect(await answer(other)).toMatchObject({ status: 200, body: 'of a challenge' });
  expect((await answer(token)).body).not.toContain('of a challenge');
});

// The example of the manual by which visitors sign in at an OpenID provider, as printed but for whose client it is.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { manual } from '../documents/policy-manual.ts';
import { sharedGateway } from '../support/gateway/gateway.ts';
import { CLIENT } from './provider.ts';
import { echoOf, type Stage, setStage } from './support.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage(await sharedGateway());
});
afterAll(() => stage?.close());

test('it lets in whom it names, tells the service who that is, and keeps others out', async () => {
  const [, example = ''] = /## Signing visitors in\n[\s\S]*?```yaml\n([\s\S]*?)\n```/.exec(manual) ?? [];
  const filled = example
    .replace('https://id.example.com', stage.provider.issuer)
    .replace('a-secret-of-the-provider', CLIENT.client_secret);
  const origin = await stage.servePolicy(parse(filled));
  const { page, browser } = await stage.signIn(`${origin}/page`, 'ann');
  expect(echoOf(page).headers['x-visitor']).toBe('ann@example.com');
  const forged = await browser.open(`${origin}/`, {
    headers: { 'x-visitor': 'root@example.com', X_VISITOR: 'root@example.com' },
  });
  expect(echoOf(forged).headers).toMatchObject({ 'x-visitor': 'ann@example.com' });
  expect(echoOf(forged).headers).not.toHaveProperty('x_visitor');
  stage.provider.users.set('eve', { email: 'eve@example.org', email_verified: true });
  expect((await stage.signIn(`${origin}/page`, 'eve')).page.status).toBe(403);
});

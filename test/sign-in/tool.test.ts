// `npm run sign-in-link` and `npm run api-key`, on the machine of the gateway.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { failureOf } from '../live/restrictions/support.ts';
import type { TestGateway } from '../support/gateway/gateway.ts';
import { newPlace, type Place } from '../support/gateway/place.ts';
import { root } from '../support/root.ts';
import { newBrowser, PASSWORD, refusal, signedIn, startWithDashboard } from './browser.ts';

const NEW_PASSWORD = 'another horse, another battery';

let place: Place;
let gateway: TestGateway;
beforeEach(async () => {
  place = await newPlace();
  gateway = await startWithDashboard({}, { place });
});
afterEach(async () => {
  await gateway.close();
  await place.remove();
});

/** Runs a command while the gateway is stopped. @returns what it prints. */
async function run(tool: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<string> {
  await gateway.close();
  const options = { env: { PATH: process.env.PATH, ...place.env, ...env } };
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(root, `dist/tools/${tool}.js`), ...args],
      options,
    );
    return stdout;
  } finally {
    gateway = await startWithDashboard({}, { place });
  }
}

/** The newest entry of the audit trail. */
async function newestEntry() {
  const members = 'action kind objectId objectName source actorId userAgent';
  const { body } = await gateway.graphql(`{ auditEntries(first: 1) { nodes { ${members} } } }`);
  return body.data.auditEntries.nodes[0];
}

const linksIn = (printed: string) => [...printed.matchAll(/^(.*)\/dashboard\/sign-in#([\w-]{43})$/gm)];

test('an only admin who has forgotten the password gets a link, which sets another one and ends the sessions', async () => {
  const before = await signedIn(gateway, gateway.key, gateway.ownerId);
  const printed = await run('sign-in-link', [], { API_PORT: '14040' });
  expect(printed).toContain(`admin@localhost of account ${gateway.accountId} `);
  const [[, base, token = ''] = []] = linksIn(printed);
  expect(await newestEntry()).toMatchObject({
    ...{ action: 'SIGN_IN_LINK_CREATED', kind: 'user', objectId: gateway.ownerId, objectName: 'admin@localhost' },
    ...{ source: 'GATEWAY', actorId: null, userAgent: 'npm run sign-in-link' },
  });
  expect(base).toBe('http://127.0.0.1:14040');
  expect((await newBrowser(gateway.api).redeem(token, NEW_PASSWORD)).body.data.redeemSignInLink.viewer.isAdmin).toBe(
    true,
  );
  expect((await newBrowser(gateway.api).signIn('admin@localhost', NEW_PASSWORD)).body.errors).toBeUndefined();
  expect(refusal(await newBrowser(gateway.api).signIn('admin@localhost', PASSWORD))).toBeDefined();
  const { cookie, secret } = before;
  const again = Object.assign(newBrowser(gateway.api), { cookie, secret });
  expect(refusal(await again.ask('credentials'))).toBe('UNAUTHENTICATED ERR_GATEWAY_90200');
  expect(refusal(await newBrowser(gateway.api).redeem(token))).toBe('FORBIDDEN ERR_GATEWAY_90207');
});

test('who is locked out by IP restrictions gets in again', async () => {
  // Of an admin without a password, each start prints a link, which replaces that of the command.
  await signedIn(gateway, gateway.key, gateway.ownerId);
  const { call } = gateway;
  const { body: policy } = await call('POST', '/ip_policies', {});
  for (const type of ['api', 'dashboard']) await call('POST', '/ip_restrictions', { type, ip_policy_ids: [policy.id] });
  await gateway.app.prisma.accountIpRestriction.updateMany({ data: { enforced: true } });
  const printed = await run('sign-in-link', ['--ip-restriction-off']);
  expect(failureOf(await gateway.call('GET', '/ip_restrictions'))).toEqual([403, 220]);
  const [[, , token = ''] = []] = linksIn(printed);
  expect((await newBrowser(gateway.api).redeem(token)).body.errors).toBeUndefined();
  await run('api-key', ['--ip-restriction-off']);
  const { body } = await gateway.call('GET', '/ip_restrictions');
  expect(body.ip_restrictions.map(({ enforced }: { enforced: boolean }) => enforced)).toEqual([false, false]);
  const { body: audited } = await gateway.graphql(
    '{ auditEntries(kind: "accountIpRestriction", first: 1) { nodes { action source userAgent } } }',
  );
  const told = { action: 'UPDATED', source: 'GATEWAY', userAgent: 'npm run api-key' };
  expect(audited.data.auditEntries.nodes).toEqual([told]);
});

test('a user gets one by e-mail address, in each account that has the user, at the public address', async () => {
  const subject = 'anna@example.com';
  const users = [];
  for (const { accountId, ownerId } of [await gateway.newAccount(), await gateway.newAccount()]) {
    await gateway.app.prisma.owner.update({ where: { id: ownerId }, data: { subject } });
    users.push({ accountId, ownerId });
  }
  const links = linksIn(await run('sign-in-link', [subject], { PUBLIC_API_URL: 'https://gateway.example/' }));
  expect(links.map(([, base]) => base)).toEqual(users.map(() => 'https://gateway.example'));
  const redeemed = [];
  for (const [, , token = ''] of links) {
    const { body } = await newBrowser(gateway.api).redeem(token);
    redeemed.push(body.data.redeemSignInLink.viewer.user.id);
  }
  expect(redeemed.sort()).toEqual(users.map(({ ownerId }) => ownerId).sort());
});

test('a link leaves a second factor on, and says how it is turned off', async () => {
  const { ownerId } = gateway;
  await signedIn(gateway, gateway.key, ownerId);
  await gateway.app.prisma.secondFactor.create({
    data: { ownerId, sealed: 'of no use here', confirmedAt: new Date() },
  });
  const off = 'npm run sign-in-link -- admin@localhost --second-factor-off';
  const printed = await run('sign-in-link');
  expect(printed).toContain(off);
  const [[, , token = ''] = []] = linksIn(printed);
  expect(refusal(await newBrowser(gateway.api).redeem(token))).toBe('FORBIDDEN ERR_GATEWAY_90226');
  const printedThen = await run('sign-in-link', ['admin@localhost', '--second-factor-off']);
  expect(printedThen).not.toContain(off);
  const { body } = await gateway.graphql('{ auditEntries(first: 2) { nodes { action source userAgent } } }');
  const from = { source: 'GATEWAY', userAgent: 'npm run sign-in-link' };
  expect(body.data.auditEntries.nodes).toEqual([
    { action: 'SIGN_IN_LINK_CREATED', ...from },
    { action: 'SECOND_FACTOR_OFF', ...from },
  ]);
  const [[, , another = ''] = []] = linksIn(printedThen);
  expect((await newBrowser(gateway.api).redeem(another)).body.data.redeemSignInLink.viewer.isAdmin).toBe(true);
});

test('whom no account has gets none', async () => {
  await expect(run('sign-in-link', ['nobody@example.com'])).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'No active user has the e-mail address nobody@example.com; give it as the dashboard shows it.\n',
  });
});

test('an operator who has lost the first API key gets another', async () => {
  const [, key = ''] = /^API key: (\S+)\n$/.exec(await run('api-key')) ?? [];
  expect((await gateway.call('GET', '/credentials', undefined, { key })).status).toBe(200);
  expect(await newestEntry()).toMatchObject({
    ...{ action: 'CREATED', kind: 'apiKey', objectName: 'made by npm run api-key' },
    ...{ source: 'GATEWAY', actorId: null, userAgent: 'npm run api-key' },
  });
});

// Alerts from what is wrong to who is told.

import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Invitations } from '../../src/alerts/invitations.ts';
import { waiting } from '../events/waiting.ts';
import {
  alertOf,
  createChannel,
  createRule,
  createSilence,
  mutate,
  newFleet,
  openAlerts,
  type Post,
} from '../support/alerts.ts';
import {
  account,
  agree,
  alertThat,
  gateway,
  invitationOf,
  invitationsTo,
  MINUTE,
  mailsTo,
  now,
  pass,
  receiver,
  SECOND,
  types,
  useAlerts,
  webhookChannel,
} from './lab.ts';

useAlerts();

test('nothing fires about agents until they had time to come back after a start', async () => {
  const fleet = await newFleet(gateway, account);
  const vanish = await fleet.serve(0, 1);
  await vanish();
  await createRule(account, { name: 'any', condition: 'ENDPOINT_OFFLINE', forSeconds: 0 });
  const other = await createRule(account, { name: 'sign of life', condition: 'BACKLOG', threshold: 0, forSeconds: 0 });
  const { destinationId } = await waiting(gateway, account, ['bot_user_created.v0']);
  await mutate(account, '{ createBotUser(input: { name: "one" }) { botUser { id } } }');
  // Evaluated is what is not about agents, in the same round.
  await alertThat({ name: 'sign of life', subjects: [{ objectId: destinationId, detail: '1 event waits' }] });
  await mutate(account, '($id: ID!) { deleteAlertRule(id: $id) { deletedAlertRuleId } }', { id: other.id });
  pass(3 * MINUTE);
  await alertThat({ name: 'any', subjectCount: 1, subjects: [{ detail: 'no heartbeat' }] });
});

test('half of a fleet that disappears is one alert and one mail; one more as it grows, and one when it is back', async () => {
  const address = 'on-call@example.com';
  const channel = await createChannel(account, { name: 'on call', kind: 'EMAIL', recipients: [address] });
  expect(channel).toMatchObject({ problem: expect.stringContaining(address), signingSecret: null });
  await agree(address);
  const fleet = await newFleet(gateway, account);
  const vanish = await Promise.all([fleet.serve(0, 25), fleet.serve(25, 30), fleet.serve(30, 50)]);
  const rule = await createRule(account, {
    ...{ name: 'half of the fleet', condition: 'OFFLINE_SHARE', threshold: 0.4, forSeconds: 120, severity: 'CRITICAL' },
    ...{ selector: { addressPattern: 'fleet*.tunnel.localhost' }, channelIds: [channel.id], updateMinutes: 30 },
  });
  await vanish[0]?.();
  const pending = () => gateway.app.prisma.alertRule.findUnique({ where: { id: rule.id } });
  await expect.poll(pending).toMatchObject({ pendingSince: expect.any(Date) });
  expect(await openAlerts(account)).toEqual([]);
  pass(2 * MINUTE);
  await expect.poll(() => mailsTo(address).length).toBe(1);
  const alert = await alertThat({ state: 'FIRING', subjectCount: 25, value: 0.5 });
  expect(alert.subjects).toHaveLength(20);
  const { source } = mailsTo(address)[0] ?? { source: '' };
  expect(source).toContain('Subject: [CRITICAL] half of the fleet: 25 endpoints are offline');
  expect(source).toContain(`Message-ID: <${alert.notifications[0].id}@example.com>`);
  expect(source).toContain('Auto-Submitted: auto-generated');
  expect(source).toContain('- and 5 more');

  await vanish[1]?.();
  await alertThat({ subjectCount: 30 });
  pass(31 * MINUTE);
  await expect.poll(() => mailsTo(address).length).toBe(2);
  expect(mailsTo(address)[1]?.source).toContain('half of the fleet: 30 endpoints are offline');

  await fleet.serve(0, 30);
  const row = () => gateway.app.prisma.alert.findUnique({ where: { id: alert.id } });
  await expect.poll(row).toMatchObject({ clearSince: expect.any(Date) });
  pass(MINUTE);
  await expect.poll(() => openAlerts(account)).toEqual([]);
  await expect.poll(() => mailsTo(address).length).toBe(3);
  expect(mailsTo(address)[2]?.source).toContain('Subject: [CRITICAL] half of the fleet: resolved');
  const { notifications } = await alertOf(account, alert.id);
  expect(notifications.map(({ kind }: { kind: string }) => kind)).toEqual(['RESOLVED', 'GREW', 'FIRED']);
});

/** As a receiver does it who has read Standard Webhooks. */
function isSigned({ headers, raw }: Post, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${raw.toString()}`;
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

test('a webhook is signed, is tried again with the same id, and shows its last error until it has worked', async () => {
  const channel = await webhookChannel();
  const fleet = await newFleet(gateway, account);
  receiver.status = 503;
  await (await fleet.serve(0, 3))();
  const rule = { name: 'devices', condition: 'ENDPOINT_OFFLINE', forSeconds: 60, channelIds: [channel.id] };
  await createRule(account, { ...rule, selector: { credentialIds: [fleet.credentialId] } });
  pass(MINUTE);
  await alertThat({
    subjectCount: 3,
    notifications: [{ failures: 1, error: 'HTTP 503: it answered 503', sentAt: null }],
  });
  const shown = async () => (await account.graphql('{ alertChannels { nodes { lastError lastSentAt } } }')).body.data;
  expect(await shown()).toMatchObject({
    alertChannels: { nodes: [{ lastError: 'HTTP 503: it answered 503', lastSentAt: null }] },
  });
  receiver.status = 204;
  pass(6 * SECOND);
  const alert = await alertThat({ notifications: [{ failures: 1, error: null, sentAt: expect.any(String) }] });
  const [first, second] = receiver.posts as [Post, Post];
  expect(second.headers['webhook-id']).toBe(alert.notifications[0].id);
  expect(first.headers['webhook-id']).toBe(second.headers['webhook-id']);
  expect(receiver.posts.map((post) => isSigned(post, channel.signingSecret))).toEqual([true, true]);
  expect(second.body).toMatchObject({
    ...{ type: 'alert_fired', account_id: account.accountId, summary: 'devices: 3 endpoints are offline' },
    alert: { id: alert.id, url: `${gateway.api}/dashboard/alerts/${alert.id}`, subject_count: 3, resolved_at: null },
  });
  expect(await shown()).toMatchObject({
    alertChannels: { nodes: [{ lastError: null, lastSentAt: expect.any(String) }] },
  });
});

test('what a node had taken that died is sent by another', async () => {
  const { prisma } = gateway.app;
  const channel = await webhookChannel();
  receiver.status = 503;
  await (await (await newFleet(gateway, account)).serve(0, 1))();
  await createRule(account, { name: 'd', condition: 'ENDPOINT_OFFLINE', forSeconds: 0, channelIds: [channel.id] });
  const { notifications } = await alertThat({ notifications: [{ failures: 1 }] });
  receiver.status = 204;
  // As a node leaves it that is killed between the firing and the answer: taken for long, and not settled.
  const lease = { leaseToken: 'node_gone 1', leaseUntil: new Date(now() + 10 * MINUTE) };
  await prisma.alertNotification.update({
    where: { id: notifications[0].id },
    data: { ...lease, nextAt: new Date(0) },
  });
  await alertThat({ notifications: [{ id: notifications[0].id, sentAt: expect.any(String) }] });
  expect(new Set(receiver.posts.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([notifications[0].id]));
});

test('an acknowledged alert is told again only when it is resolved', async () => {
  const channel = await webhookChannel();
  const fleet = await newFleet(gateway, account);
  const vanish = [await fleet.serve(0, 1), await fleet.serve(1, 3)];
  const rule = { name: 'd', condition: 'ENDPOINT_OFFLINE', forSeconds: 0, resolveSeconds: 0, updateMinutes: 1 };
  await createRule(account, { ...rule, channelIds: [channel.id] });
  await vanish[0]?.();
  await expect.poll(types).toEqual(['alert_fired']);
  const { id } = await alertThat({ state: 'FIRING' });
  const acknowledge =
    '($id: ID!) { acknowledgeAlert(id: $id, note: "on my way") { alert { state acknowledgedBy note } } }';
  const acknowledgedBy = `${account.ownerId}@localhost`;
  expect(await mutate(account, acknowledge, { id })).toEqual({
    state: 'ACKNOWLEDGED',
    acknowledgedBy,
    note: 'on my way',
  });
  await vanish[1]?.();
  await alertThat({ state: 'ACKNOWLEDGED', subjectCount: 3 });
  pass(2 * MINUTE);
  await fleet.serve(0, 3);
  await expect.poll(types).toEqual(['alert_fired', 'alert_resolved']);
  const { body } = await account.graphql(`mutation ${acknowledge}`, { id });
  expect(body.errors[0].message).toBe('The alert is resolved; there is nothing to acknowledge.');
});

test('a silenced rule fires and tells nobody until the silence ends', async () => {
  const channel = await webhookChannel();
  await (await (await newFleet(gateway, account)).serve(0, 2))();
  const input = { name: 'd', condition: 'ENDPOINT_OFFLINE', forSeconds: 0, enabled: false, channelIds: [channel.id] };
  const rule = await createRule(account, input);
  await createSilence(account, { ruleId: rule.id, minutes: 30, reason: 'maintenance' });
  await mutate(account, '($id: ID!) { updateAlertRule(id: $id, input: { enabled: true }) { alertRule { id } } }', {
    id: rule.id,
  });
  await alertThat({ state: 'FIRING', notifications: [] });
  pass(10 * MINUTE); // Long after it would have been told.
  await alertThat({ notifications: [] });
  pass(21 * MINUTE);
  await expect.poll(types).toEqual(['alert_fired']);
});

test('what a selector silences counts as well, and its end is not told', async () => {
  const channel = await webhookChannel();
  const fleets = [await newFleet(gateway, account), await newFleet(gateway, account)] as const;
  for (const fleet of fleets) await (await fleet.serve(0, 2))();
  const rule = { name: 'd', condition: 'ENDPOINT_OFFLINE', forSeconds: 0, resolveSeconds: 0, channelIds: [channel.id] };
  await createRule(account, rule);
  await alertThat({ subjectCount: 4, notifications: [{ sentAt: expect.any(String) }] });
  const silence = (of: (typeof fleets)[number]) =>
    createSilence(account, { selector: { credentialIds: [of.credentialId] }, minutes: 60 });
  await silence(fleets[0]);
  const { id } = await alertThat({ subjectCount: 2 });
  await silence(fleets[1]);
  await expect.poll(() => openAlerts(account)).toEqual([]);
  expect(await alertOf(account, id)).toMatchObject({ state: 'RESOLVED', remark: '4 that it was about are silenced.' });
  expect(types()).toEqual(['alert_fired']);
});

test('a trial tells what the receiver said', async () => {
  const trial = async ({ id }: { id: string }) => {
    const shown = 'ok notificationId errorCode message';
    return mutate(account, `($id: ID!) { testAlertChannel(id: $id) { test { ${shown} } } }`, { id });
  };
  const hook = await webhookChannel();
  expect(await trial(hook)).toMatchObject({ ok: true, notificationId: receiver.posts[0]?.headers['webhook-id'] });
  expect(receiver.posts[0]?.body).toMatchObject({ type: 'alert_test', summary: 'hook: this is a test' });
  receiver.status = 403;
  expect(await trial(hook)).toMatchObject({ ok: false, errorCode: 'HTTP 403' });

  const mail = async (recipients: string[]) => {
    const channel = await createChannel(account, { name: 'mail', kind: 'EMAIL', recipients });
    const data = { confirmedRecipients: recipients };
    await gateway.app.prisma.alertChannel.update({ where: { id: channel.id }, data });
    return channel;
  };
  const one = 'one@example.com';
  expect(await trial(await mail([one]))).toMatchObject({ ok: true, message: null });
  expect(await trial(await mail([one, 'no1@example.com']))).toMatchObject({
    ok: true,
    message: 'the mail server refused no1@example.com',
  });
  expect(await trial(await mail(['no1@example.com']))).toMatchObject({
    ok: false,
    errorCode: 'SMTP 550',
    message: 'the mail server answered 550 no such mailbox',
  });
  const events = await createChannel(account, { name: 'pipeline', kind: 'EVENTS' });
  expect(await trial(events)).toMatchObject({ ok: false, errorCode: 'NO_SUBSCRIPTION' });
  expect(gateway.logs.filter((line) => line.includes('p%40ss') || line.includes('p@ss'))).toEqual([]);
});

test('after a day a notification is given up, which the alert says', async () => {
  const channel = await webhookChannel();
  receiver.status = 500;
  await (await (await newFleet(gateway, account)).serve(0, 1))();
  await createRule(account, { name: 'd', condition: 'ENDPOINT_OFFLINE', forSeconds: 0, channelIds: [channel.id] });
  await alertThat({ notifications: [{ failures: 1 }] });
  pass(25 * 60 * MINUTE);
  await alertThat({
    notifications: [{ failures: 2, nextAttemptAt: null, sentAt: null }],
    remark: 'A notification to hook was given up: HTTP 500: it answered 500',
  });
});

describe('a recipient of e-mail', () => {
  const shown = '{ alertChannels { nodes { recipients unconfirmedRecipients problem lastError } } }';
  const channels = async () => (await account.graphql(shown)).body.data.alertChannels.nodes;
  const trial = (id: string) =>
    mutate(account, '($id: ID!) { testAlertChannel(id: $id) { test { ok errorCode } } }', { id });

  test('is sent one link and nothing else before agreeing on its page, which opening the link does not', async () => {
    const [one, two] = ['willing@example.com', 'silent@example.com'];
    const { id } = await createChannel(account, { name: 'BUY NOW', kind: 'EMAIL', recipients: [one, two] });
    const link = await invitationOf(one);
    await invitationOf(two);
    expect(invitationsTo(one)[0]?.source).not.toContain('BUY NOW');
    const page = await fetch(link);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<form method="post"')]);
    expect(await trial(id)).toEqual({ ok: false, errorCode: 'UNCONFIRMED' });
    await agree(one);
    expect(await trial(id)).toEqual({ ok: true, errorCode: null });
    expect(mailsTo(one)).toHaveLength(1);
    expect([mailsTo(two), invitationsTo(two).length]).toEqual([[], 1]);
    expect(await channels()).toMatchObject([{ unconfirmedRecipients: [two], problem: expect.stringContaining(two) }]);
    // Whoever is taken from the list has to agree anew.
    const update =
      '($id: ID!, $recipients: [String!]!) { updateAlertChannel(id: $id, input: { recipients: $recipients }) { alertChannel { id } } }';
    for (const recipients of [[two], [one, two]]) await mutate(account, update, { id, recipients });
    expect(await channels()).toMatchObject([{ unconfirmedRecipients: [one, two] }]);
  });

  test('agrees within a week, to what the channel still wants, and with the link of the mail alone', async () => {
    const address = 'late@example.com';
    const { id } = await createChannel(account, { name: 'mail', kind: 'EMAIL', recipients: [address] });
    const { origin, pathname, searchParams } = await invitationOf(address);
    const token = searchParams.get('token') ?? '';
    const send = (token: string) =>
      fetch(origin + pathname, { method: 'POST', body: new URLSearchParams({ token }) }).then(({ status }) => status);
    for (const forged of ['', 'x', token.slice(0, -2), `A${token.slice(1)}`, 'x'.repeat(20_000)])
      expect(await send(forged)).toBe(400);
    expect((await fetch(origin + pathname, { method: 'PUT' })).status).toBe(405);
    await mutate(
      account,
      '($id: ID!) { updateAlertChannel(id: $id, input: { recipients: ["other@example.com"] }) { alertChannel { id } } }',
      { id },
    );
    expect(await send(token)).toBe(410);
    pass(7 * 24 * 60 * MINUTE + 1);
    expect(await send(token)).toBe(400);
    expect(await channels()).toMatchObject([{ unconfirmedRecipients: ['other@example.com'] }]);
  });

  test('who cannot be asked is told of', async () => {
    await createChannel(account, { name: 'mail', kind: 'EMAIL', recipients: ['nobody@example.com'] });
    const lastError = 'a recipient could not be asked: SMTP 550: the mail server answered 550 no such mailbox';
    await expect.poll(channels).toMatchObject([{ lastError }]);
  });

  test('is asked once an hour, and is one of a hundred whom an account has asked in a day', async () => {
    const [asked, refused]: [string[], string[]] = [[], []];
    const invitations = new Invitations({
      mailer: { invite: async (address) => void asked.push(address) },
      urlOf: () => '',
      onFailure: async ({ accountId }, reason) => void refused.push(`${accountId}: ${(reason as Error).message}`),
    });
    const [one, other] = [
      { id: 'alc_1', accountId: 'ac_1' },
      { id: 'alc_2', accountId: 'ac_2' },
    ];
    const addresses = Array.from({ length: 101 }, (_, i) => `${i}@example.com`);
    invitations.send(one, addresses);
    invitations.send(one, addresses.slice(0, 50));
    invitations.send(other, ['other@example.com']);
    await invitations.close();
    expect(asked).toEqual([...addresses.slice(0, 100), 'other@example.com']);
    expect(refused).toEqual(['ac_1: the account has had 100 recipients asked in a day']);
  });
});

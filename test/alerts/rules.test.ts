// Alert rules, channels and silences as admins write them: what is refused, what is shown once, and what an update keeps.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { createChannel, createRule, createSilence, mutate } from '../support/alerts.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
});
beforeEach(async () => {
  account = await gateway.newAccount();
});

/** What the first error says of a mutation. */
async function refusal(mutation: string, input: object): Promise<string> {
  const { body } = await account.graphql(mutation, { input });
  return body.errors?.[0].message;
}

const rule = 'mutation ($input: CreateAlertRuleInput!) { createAlertRule(input: $input) { alertRule { id } } }';
const channel =
  'mutation ($input: CreateAlertChannelInput!) { createAlertChannel(input: $input) { alertChannel { id } } }';
const silence =
  'mutation ($input: CreateAlertSilenceInput!) { createAlertSilence(input: $input) { alertSilence { id } } }';

const offline = { name: 'offline', condition: 'ENDPOINT_OFFLINE' };
const share = { name: 'share', condition: 'OFFLINE_SHARE' };

test.each([
  [{ ...offline, name: ' ' }, 'name must be 1 to 100 characters, none of them a control character.'],
  [{ ...offline, name: 'two\nlines' }, 'name must be 1 to 100 characters, none of them a control character.'],
  [share, 'threshold is required for OFFLINE_SHARE: a number above 0, and at most 1.'],
  [{ ...share, threshold: 1.5 }, 'threshold must be a number above 0, and at most 1 for OFFLINE_SHARE.'],
  [{ ...offline, threshold: 1 }, 'threshold must be left out: ENDPOINT_OFFLINE compares nothing with it.'],
  [
    { name: 'days', condition: 'CERTIFICATE_EXPIRES', threshold: 0.5 },
    'threshold must be a whole number from 1 to 365 for CERTIFICATE_EXPIRES.',
  ],
  [{ ...offline, forSeconds: -1 }, 'forSeconds must be a whole number from 0 to 604800.'],
  [
    { ...offline, selector: { destinationIds: ['ed_1'] } },
    'selector.destinationIds[0] must be left out for ENDPOINT_OFFLINE, which has addressPattern, label, credentialIds.',
  ],
  [
    { ...offline, selector: { addressPattern: 'a b' } },
    'selector.addressPattern must be at most 255 bytes without spaces, as device-*.example.com or tcp://*:20001: "*" is any text.',
  ],
  [
    { ...offline, selector: { credentialIds: ['cr_1'] } },
    'selector.credentialIds[0] must name a credential of this account.',
  ],
  [
    { ...offline, selector: { label: '=berlin' } },
    'selector.label must be a label of agents, site=berlin, or site for any value of it; at most 255 bytes.',
  ],
  [{ ...offline, channelIds: ['alc_1'] }, 'channelIds[0] must name an alert channel of this account.'],
])('a rule %j is refused: %s', async (input, expected) => {
  expect(await refusal(rule, input)).toBe(expected);
});

const mail = { name: 'mail', kind: 'EMAIL' };

test.each([
  [mail, 'recipients is required.'],
  [{ ...mail, recipients: [] }, 'recipients must be 1 to 20 e-mail addresses, each once.'],
  [{ ...mail, recipients: ['a@b', 'a@b'] }, 'recipients must be 1 to 20 e-mail addresses, each once.'],
  [{ ...mail, recipients: ['Eve <eve@example.com>'] }, 'recipients must be 1 to 20 e-mail addresses, each once.'],
  [{ ...mail, recipients: ['a@b'], url: 'https://x' }, 'url must be left out: the channel is of the kind EMAIL.'],
  [{ name: 'hook', kind: 'WEBHOOK' }, 'url is required.'],
  [
    { name: 'hook', kind: 'WEBHOOK', url: 'https://10.0.0.1/' },
    'url must be at a host that the operator allows: "10.0.0.1" is not one (EVENT_WEBHOOK_HOSTS of the gateway).',
  ],
  [
    { name: 'events', kind: 'EVENTS', recipients: ['a@b'] },
    'recipients must be left out: the channel is of the kind EVENTS.',
  ],
])('a channel %j is refused: %s', async (input, expected) => {
  expect(await refusal(channel, input)).toBe(expected);
});

test('a silence says what to silence, and for how long', async () => {
  expect(await refusal(silence, { minutes: 5 })).toBe('ruleId or a selector is required: say what to silence.');
  expect(await refusal(silence, { ruleId: 'alr_1', minutes: 0 })).toBe(
    'minutes must be a whole number from 1 to 525600.',
  );
  expect(await refusal(silence, { ruleId: 'alr_1', minutes: 5 })).toBe(
    'ruleId must name an alert rule of this account.',
  );
});

test('an e-mail channel says that there is no mail server', async () => {
  const made = await createChannel(account, { ...mail, recipients: ['a@example.com'] });
  const problem = 'this gateway sends no e-mail: its operator has not set SMTP_URL and SMTP_FROM';
  expect(made).toMatchObject({ problem });
  const trial = await mutate(account, '($id: ID!) { testAlertChannel(id: $id) { test { ok errorCode message } } }', {
    id: made.id,
  });
  expect(trial).toEqual({ ok: false, errorCode: 'NO_SMTP', message: problem });
});

test('a channel in use stays, and goes when no rule names it', async () => {
  const { id } = await createChannel(account, { name: 'events', kind: 'EVENTS' });
  const { id: ruleId } = await createRule(account, { ...offline, channelIds: [id] });
  const remove = 'mutation ($id: ID!) { deleteAlertChannel(id: $id) { deletedAlertChannelId } }';
  const { body } = await account.graphql(remove, { id });
  expect(body.errors[0].message).toBe('The alert channel is still used by an alert rule; remove it there first.');
  const update = '($id: ID!) { updateAlertRule(id: $id, input: { channelIds: [] }) { alertRule { channels { id } } } }';
  expect(await mutate(account, update, { id: ruleId })).toEqual({ channels: [] });
  expect((await account.graphql(remove, { id })).body.data.deleteAlertChannel.deletedAlertChannelId).toBe(id);
});

test('a rule keeps what an update leaves out, and a silence can be made longer', async () => {
  const { id } = await createRule(account, { ...share, threshold: 0.5, selector: { addressPattern: '*.example.com' } });
  const update = `($id: ID!) { updateAlertRule(id: $id, input: { severity: CRITICAL }) { alertRule {
    name condition threshold forSeconds resolveSeconds updateMinutes severity enabled selector { addressPattern } } } }`;
  expect(await mutate(account, update, { id })).toEqual({
    ...{ ...share, threshold: 0.5, forSeconds: 60, resolveSeconds: 60, updateMinutes: 30 },
    ...{ severity: 'CRITICAL', enabled: true, selector: { addressPattern: '*.example.com' } },
  });
  const { id: silenceId } = await createSilence(account, { ruleId: id, minutes: 1 });
  const longer =
    '($id: ID!) { updateAlertSilence(id: $id, input: { minutes: 120, reason: "works" }) { alertSilence { until reason rule { id } } } }';
  const silenced = await mutate(account, longer, { id: silenceId });
  expect(silenced).toMatchObject({ reason: 'works', rule: { id } });
  expect(Date.parse(silenced.until) - Date.now()).toBeGreaterThan(100 * 60_000);
});

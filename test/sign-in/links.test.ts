import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Account, TestGateway } from '../support/gateway/gateway.ts';
import { linkFor, newBrowser, operations, PASSWORD, refusal, startWithDashboard } from './browser.ts';

const MINUTE = 60_000;
const OVER = 'FORBIDDEN ERR_GATEWAY_90207';

let gateway: TestGateway;
let account: Account;
let time = Date.now();
beforeAll(async () => {
  gateway = await startWithDashboard({}, { now: () => time });
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

const link = (userId: string, by = account.key) => linkFor(gateway, by, userId);
const redeem = async (token: string, password = PASSWORD) => {
  const browser = newBrowser(gateway.api);
  const answer = await browser.redeem(token, password);
  time += MINUTE; // Failures are another test's business.
  return answer;
};
const asked = (key: string, userId: string) => gateway.graphql(operations.createLink, { userId }, { key });

test('a link works once', async () => {
  const { ownerId } = await account.addOwner();
  const token = await link(ownerId);
  expect((await redeem(token)).body.data.redeemSignInLink.viewer).toMatchObject({
    user: { id: ownerId },
    isAdmin: false,
  });
  expect(refusal(await redeem(token))).toBe(OVER);
});

test('of two who redeem a link at the same moment, one signs in', async () => {
  const token = await link((await account.addOwner()).ownerId);
  const answers = await Promise.all([redeem(token), redeem(token), redeem(token)]);
  expect(answers.map(refusal).sort()).toEqual([OVER, OVER, undefined]);
});

test('a link works for 15 minutes', async () => {
  const { ownerId } = await account.addOwner();
  const [early, late] = [15 * MINUTE - 1, 15 * MINUTE];
  const first = await link(ownerId);
  time += late;
  expect(refusal(await redeem(first))).toBe(OVER);
  const second = await link(ownerId);
  time += early;
  expect((await redeem(second)).body.errors).toBeUndefined();
});

test('a newer link makes those before it void, of the same user only', async () => {
  const [one, other] = [(await account.addOwner()).ownerId, (await account.addOwner()).ownerId];
  const [older, ofOther, newer] = [await link(one), await link(other), await link(one)];
  expect(refusal(await redeem(older))).toBe(OVER);
  expect((await redeem(newer)).body.errors).toBeUndefined();
  expect((await redeem(ofOther)).body.errors).toBeUndefined();
});

test('a link sets another password, and ends the sessions that there were', async () => {
  const user = await account.addOwner();
  const browser = newBrowser(gateway.api);
  await browser.redeem(await link(user.ownerId));
  const again = await link(user.ownerId);
  expect((await browser.ask('viewer')).body.data.viewer).not.toBeNull();
  expect((await redeem(again, 'another good password')).body.errors).toBeUndefined();
  expect((await browser.ask('viewer')).body.data.viewer).toBeNull();
});

describe('a password that is guessed first is refused, and the link still works:', () => {
  const rules: [what: string, password: string, number: string][] = [
    ['eleven characters', 'p'.repeat(5) + 'q'.repeat(6), 'ERR_GATEWAY_90208'],
    ['1025 characters', 'pq'.repeat(513), 'ERR_GATEWAY_90208'],
    ['eleven characters of two units each', `${'😀😁'.repeat(5)}😀`, 'ERR_GATEWAY_90208'],
    ['one character over and over', 'p'.repeat(12), 'ERR_GATEWAY_90210'],
    ['the name of the e-mail address', 'i am GRETA.garbo, i am', 'ERR_GATEWAY_90209'],
    ['a character that cannot be typed', 'twelve and a \0', 'ERR_GATEWAY_215'],
  ];
  test.each(rules)('%s', async (_, password, number) => {
    const { ownerId } = await account.addOwner();
    await gateway.app.prisma.owner.update({ where: { id: ownerId }, data: { subject: `greta.garbo@${ownerId}` } });
    const token = await link(ownerId);
    const refused = await redeem(token, password);
    expect(refusal(refused)).toBe(`BAD_USER_INPUT ${number}`);
    expect(refused.body.errors[0].extensions.field).toBe('password');
    expect(refused.text).not.toContain(JSON.stringify(password).slice(1, -1));
    expect((await redeem(token, 'pq'.repeat(6))).body.errors).toBeUndefined();
  });
});

test('one password typed on two keyboards is the same', async () => {
  const { ownerId } = await account.addOwner();
  await redeem(await link(ownerId), 'caf\u00e9 au lait, s’il vous plaît');
  const subject = `${ownerId}@example.com`.toLowerCase();
  await gateway.app.prisma.owner.update({ where: { id: ownerId }, data: { subject } });
  const answer = await newBrowser(gateway.api).signIn(subject, 'cafe\u0301 au lait, s’il vous plaît');
  expect(answer.body.errors).toBeUndefined();
});

test('only admins make links, for active users of their own account', async () => {
  const [member, bot] = [await account.addOwner(), await account.addOwner({ kind: 'BOT' })];
  const elsewhere = await gateway.newAccount();
  expect(refusal(await asked(member.key, member.ownerId))).toBe('FORBIDDEN ERR_GATEWAY_1220');
  expect(refusal(await asked(bot.key, bot.ownerId))).toBe('FORBIDDEN ERR_GATEWAY_1220');
  for (const id of [elsewhere.ownerId, bot.ownerId, 'usr_0000000000000000000000000000', 'nonsense', 'a\0'])
    expect(refusal(await asked(account.key, id))).toBe('NOT_FOUND ERR_GATEWAY_90020');
  await account.graphql('mutation ($id: ID!) { deactivateUser(id: $id) { user { id } } }', { id: member.ownerId });
  expect(refusal(await asked(account.key, member.ownerId))).toBe('CONFLICT ERR_GATEWAY_90214');
});

test('a link is void when its user is deactivated, and stays so', async () => {
  const { ownerId } = await account.addOwner();
  const token = await link(ownerId);
  const change = (active: boolean) =>
    account.graphql(
      'mutation ($id: ID!, $active: Boolean) { updateUser(id: $id, input: { active: $active }) { user { id } } }',
      {
        ...{ id: ownerId, active },
      },
    );
  await change(false);
  expect(refusal(await redeem(token))).toBe(OVER);
  await change(true);
  expect(refusal(await redeem(token))).toBe(OVER);
});

test('users of two accounts with one e-mail address sign in each with the own password', async () => {
  const other = await gateway.newAccount();
  const users = [await account.addOwner(), await other.addOwner()];
  const email = `both@${users[0]?.ownerId}`.toLowerCase();
  for (const [index, { ownerId }] of users.entries()) {
    await gateway.app.prisma.owner.update({ where: { id: ownerId }, data: { subject: email } });
    const by = index === 0 ? account.key : other.key;
    expect((await redeem(await link(ownerId, by), `${PASSWORD} ${index}`)).body.errors).toBeUndefined();
  }
  for (const [index, { ownerId }] of users.entries()) {
    const { body } = await newBrowser(gateway.api).signIn(email, `${PASSWORD} ${index}`);
    expect(body.data.signIn.viewer.user.id).toBe(ownerId);
  }
});

test('who has no password cannot change it, with a key either', async () => {
  const user = await account.addOwner();
  const query = 'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { viewer { isAdmin } } }';
  const input = { current: 'whatever it may be', password: 'another good password' };
  expect(refusal(await user.graphql(query, { input }))).toBe('CONFLICT ERR_GATEWAY_90212');
});

test('a link says whom it is for, as long as it works; looks that fail are attempts', async () => {
  const { ownerId } = await account.addOwner();
  const browser = newBrowser(gateway.api);
  const whose = (token: string) => browser.ask('linkUser', { token });
  time += 15 * MINUTE; // Whoever failed before waits no longer.
  const [older, newer] = [await link(ownerId), await link(ownerId)];
  const user = { email: `${ownerId}@localhost` };
  for (let look = 0; look < 10; look++) expect((await whose(newer)).body).toEqual({ data: { signInLinkUser: user } });
  expect((await whose(older)).body).toEqual({ data: { signInLinkUser: null } });
  time += 15 * MINUTE - 1;
  expect((await whose(newer)).body.data.signInLinkUser).toEqual(user);
  for (const over of [newer, 'nonsense', 'a\0', newer, newer]) {
    time += 15 * MINUTE;
    expect((await whose(over)).body).toEqual({ data: { signInLinkUser: null } });
  }
  expect(refusal(await whose(newer))).toBe('RATE_LIMITED ERR_GATEWAY_90206');
});

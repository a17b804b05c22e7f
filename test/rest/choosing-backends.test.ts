// Backends that name other backends: whose they may be, how far they may lead, and that no circle comes about.

import { beforeAll, expect, test } from 'vitest';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
let group: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  group = await make('tunnel_group', { labels: { app: 'shop' } });
});

async function make(kind: string, body: object, owner = account): Promise<string> {
  const { status, text, body: made } = await owner.call('POST', `/backends/${kind}`, body);
  expect(status, text).toBe(201);
  return made.id;
}

const failover = (...backends: string[]) => make('failover', { backends });
const change = (id: string, backends: object, kind = 'failover') =>
  account.call('PATCH', `/backends/${kind}/${id}`, { backends });
const refused = (number: number) => ({ status: 400, body: { error_code: `ERR_GATEWAY_${number}` } });

test('another account’s backend cannot be named, nor told from one that there is not', async () => {
  const theirs = await make('tunnel_group', { labels: { app: 'x' } }, await gateway.newAccount());
  const answer = await account.call('POST', '/backends/weighted', { backends: { [theirs]: 1 } });
  expect(answer).toMatchObject(refused(6514));
  expect(answer.body.msg).toBe(`backends: your account has no backend "${theirs}".`);
  expect(await change(await failover(group), [theirs])).toMatchObject(refused(6514));
});

test('a circle is refused over any number of steps, and nothing changes', async () => {
  const inner = await failover(group);
  const middle = await make('weighted', { backends: { [inner]: 1 } });
  const outer = await failover(middle, group);
  const answer = await change(inner, [group, outer]);
  expect(answer).toMatchObject(refused(90662));
  expect(answer.body.msg).toContain(outer);
  expect((await account.call('GET', `/backends/failover/${inner}`)).body.backends).toEqual([group]);
});

test('of two changes that make a circle together, one is refused', async () => {
  const [one, two] = [await failover(group), await failover(group)];
  const answers = await Promise.all([change(one, [two]), change(two, [one])]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
});

test('a backend leads to at most 32, and to responses of 128 KiB, over all of its members', async () => {
  const rows = await Promise.all(Array.from({ length: 16 }, (_, i) => make('tunnel_group', { labels: { i: `${i}` } })));
  const [first, second, third] = [await failover(...rows), await failover(group), await failover(group)];
  const outer = await failover(first, second, third);
  // 16 groups, another one, and four that choose: 21. Twelve more are one too many.
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, i) => make('http_response', { body: i < 3 ? 'x'.repeat(32_768) : '' })),
  );
  expect(await change(third, [group, ...responses])).toMatchObject(refused(90663));
  expect(await change(third, [group, ...responses.slice(1)])).toMatchObject({ status: 200 });
  const grown = (id: string) => account.call('PATCH', `/backends/http_response/${id}`, { body: 'x'.repeat(32_768) });
  expect(await grown(responses[4] as string)).toMatchObject({ status: 200 });
  const tooLarge = await grown(responses[5] as string);
  expect(tooLarge).toMatchObject(refused(90664));
  expect(tooLarge.body.msg).toMatch(new RegExp(`^body: .*(${third}|${outer})`));
});

test('what another backend uses cannot be deleted, and goes free with it', async () => {
  const member = await failover(group);
  const user = await make('weighted', { backends: { [member]: 1 } });
  const inUse = { status: 409, body: { error_code: 'ERR_GATEWAY_6502' } };
  expect(await account.call('DELETE', `/backends/failover/${member}`)).toMatchObject(inUse);
  expect(await account.call('DELETE', `/backends/weighted/${user}`)).toMatchObject({ status: 204 });
  expect(await account.call('DELETE', `/backends/failover/${member}`)).toMatchObject({ status: 204 });
});

test('each kind has its own ids: those of another are not found', async () => {
  const [id, fixed] = [await failover(group), await make('static', { address: 'api.example.com:443' })];
  const wrong = ['weighted', 'tunnel_group', 'http_response', 'static'].map((kind) => `/backends/${kind}/${id}`);
  for (const path of [...wrong, `/backends/failover/${fixed}`])
    for (const method of ['GET', 'DELETE', 'PATCH'] as const)
      expect((await account.call(method, path, method === 'PATCH' ? {} : undefined)).status, path).toBe(404);
});

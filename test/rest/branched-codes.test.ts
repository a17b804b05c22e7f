// The codes of errors by which clients written for the original service decide what to do: whether to try again, to adopt what is there,
// or to give up. They compare whole codes, so that the prefix counts, too. The manual lists the same numbers.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorTable } from '../../src/api/errors/error-table.ts';
import { FOREIGN_ERROR_PREFIX } from '../../src/tunnel/control/compatibility.ts';
import { bound, nameRequest, newCredential, openSession } from '../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { root } from '../support/root.ts';

let gateway: TestGateway;
let account: Account;
let policy: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  await made('/reserved_domains', { domain: '*.codes.example.com' });
  policy = (await made('/ip_policies', {})).id;
});

const ask = (method: string, path: string, body?: object, by = account) =>
  by.call(method, path, body, { dialect: 'extended' });
async function made(path: string, body: object) {
  const answer = await ask('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

const rule = (cidr: string) => ask('POST', '/ip_policy_rules', { ip_policy_id: policy, action: 'allow', cidr });
const cloud = (name: string, more: object = {}) =>
  ask('POST', '/endpoints', { url: `https://${name}.codes.example.com`, type: 'cloud', ...more });

/** Has an agent serve a name. */
async function serve(name: string): Promise<void> {
  const { credentialId } = await newCredential(account);
  const session = await openSession(gateway, { accountId: account.accountId, credentialId });
  const request = nameRequest(session, `${name}.codes.example.com`, { proto: 'https', port: 443 });
  bound(await gateway.registrar.bind(request));
}

/** How each is met. */
const cases: Record<number, () => ReturnType<typeof ask>> = {
  203: () =>
    account.call('GET', '/credentials', undefined, { dialect: 'extended', key: account.key.replace(/.$/, '_') }),
  214: () => ask('POST', '/credentials', { colour: 'red' }),
  413: () => ask('POST', '/reserved_domains', { domain: '*.codes.example.com' }),
  async 414() {
    const other = await gateway.newAccount();
    return ask('POST', '/reserved_domains', { domain: 'a.codes.example.com' }, other);
  },
  async 446() {
    const { id } = await made('/reserved_domains', { domain: 'held.example.com' });
    await made('/endpoints', { url: 'https://held.example.com', type: 'cloud' });
    return ask('DELETE', `/reserved_domains/${id}`);
  },
  1406: () => rule('10.0.0.0/33'),
  async 1408() {
    await rule('10.9.0.0/16');
    return rule('10.9.0.0/16');
  },
  1409: () => rule('10.0.0.1/8'),
  1413: () => rule('10.0.0.1'),
  async 1420() {
    const { id } = await made('/ip_policies', {});
    await made('/ip_restrictions', { type: 'agent', ip_policy_ids: [id] });
    return ask('DELETE', `/ip_policies/${id}`);
  },
  2201: () => cloud('policy', { traffic_policy: '{"on_http_request":[{"actions":[{"type":"nothing"}]}]}' }),
  7117: () => ask('POST', '/endpoints', { url: 'https://nobodys.example.org', type: 'cloud' }),
  async 7122() {
    await made('/edges/https', { hostports: ['edge.codes.example.com:443'] });
    return cloud('edge');
  },
  async 18016() {
    await serve('pooled');
    return cloud('pooled', { pooling_enabled: true });
  },
  async 18017() {
    await serve('alone');
    return cloud('alone');
  },
};

/** By the page for those who come from the original. */
async function listed(): Promise<{ number: number; isAnswered: boolean }[]> {
  const page = await readFile(join(root, 'src/manual/coming-from-the-original.md'), 'utf8');
  const [, table = ''] = page.split('<!-- codes -->');
  return [...table.matchAll(/^\| (\d+) \|(.*)$/gm)].map(([, number, rest = '']) => ({
    number: Number(number),
    isAnswered: !rest.includes('never'),
  }));
}

test('the manual lists those that are met here, and no others as answered', async () => {
  const rows = await listed();
  expect(rows.filter(({ isAnswered }) => isAnswered).map(({ number }) => number)).toEqual(
    Object.keys(cases).map(Number),
  );
  const known = new Set(Object.values(errorTable).map(([number]) => Number(number)));
  for (const { number } of rows.filter(({ isAnswered }) => !isAnswered)) expect(known.has(number)).toBe(false);
});

test.each(Object.entries(cases))('%s', async (number, meet) => {
  const answer = await meet();
  expect(answer.body).toMatchObject({ error_code: `${FOREIGN_ERROR_PREFIX}${number}`, status_code: answer.status });
  expect(answer.status).toBeGreaterThanOrEqual(400);
});

describe('other codes keep their prefix', () => {
  test('numbers of ours, for older clients too', async () => {
    expect((await ask('GET', '/credentials/cr_1')).body.error_code).toBe('ERR_GATEWAY_90020');
    expect((await ask('GET', '/nothing')).body.error_code).toBe('ERR_GATEWAY_90002');
  });

  test('all numbers, for everybody else', async () => {
    const body = { domain: '*.codes.example.com' };
    expect((await account.call('POST', '/reserved_domains', body)).body.error_code).toBe('ERR_GATEWAY_413');
    const create =
      'mutation { createReservedDomain(input: { domain: "*.codes.example.com" }) { reservedDomain { id } } }';
    const headers = { 'other-version': '2' };
    const { errors } = (await account.graphql(create, {}, { headers })).body;
    expect(errors[0].extensions.errorCode).toBe('ERR_GATEWAY_413');
  });
});

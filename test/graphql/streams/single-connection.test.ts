// Server-sent events in the single-connection mode: the library graphql-sse, and requests that it would not send.

import { type Client, createClient } from 'graphql-sse';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

const MARKED = 'subscription { changes(kinds: ["credential"]) { changes { objectId } } }';
const TOKEN = 'x-graphql-event-stream-token';

let gateway: TestGateway;
let account: Account;
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function clientAs(key: string): Client<true> {
  const client = createClient({
    singleConnection: true,
    url: `${gateway.api}/graphql`,
    headers: () => ({ authorization: `Bearer ${key}` }),
    retryAttempts: 0,
  });
  ends.push(() => client.dispose());
  return client;
}

const ask = (method: string, token?: string, body?: object, key = account.key, search = '') =>
  fetch(`${gateway.api}/graphql${search}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(token === undefined ? {} : { [TOKEN]: token }),
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(method === 'GET' ? { accept: 'text/event-stream' } : {}),
    },
    body: body ? JSON.stringify(body) : null,
  });
const errorOf = async (response: Response) => {
  const { errors } = (await response.json()) as { errors: { extensions: { errorCode: string } }[] };
  return [response.status, errors[0]?.extensions.errorCode];
};
const reserve = async (key = account.key) => (await ask('PUT', undefined, undefined, key)).text();
const operation = (query: string, operationId: unknown = 'a') => ({ query, extensions: { operationId } });

/** An open stream, and its text so far. */
async function open(token: string) {
  const response = await ask('GET', token);
  const all = { text: '', isOver: false };
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  ends.push(() => reader.cancel().catch(() => {}));
  (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) all.text += Buffer.from(part.value);
    all.isOver = true;
  })().catch(() => {});
  return { response, all };
}

test('graphql-sse has twelve subscriptions, queries and mutations on one stream', async () => {
  const client = clientAs(account.key);
  const streams = Array.from({ length: 12 }, () => client.iterate({ query: MARKED }));
  for (const stream of streams) expect((await stream.next()).value).toEqual({ data: { changes: { changes: [] } } });
  const made = client.iterate<{ createCredential: { credential: { id: string } } }>({
    query: 'mutation { createCredential(input: {}) { credential { id } } }',
  });
  const id = (await made.next()).value?.data?.createCredential.credential.id;
  expect((await made.next()).done).toBe(true);
  for (const stream of streams)
    expect((await stream.next()).value).toEqual({ data: { changes: { changes: [{ objectId: id }] } } });
  for (const stream of streams) await stream.return?.();
});

test('an operation that is stopped gives its subscription back', async () => {
  const token = await reserve();
  await open(token);
  for (let i = 0; i < 110; i++) {
    expect((await ask('POST', token, operation(MARKED))).status).toBe(202);
    expect((await ask('DELETE', token, undefined, account.key, '?operationId=a')).status).toBe(200);
  }
});

test('the stream ends without a word when its key is deleted', async () => {
  const { body } = await account.call('POST', '/api_keys', {});
  const token = await reserve(body.token);
  const response = await ask('GET', token, undefined, body.token);
  expect((await ask('POST', token, operation(MARKED), body.token)).status).toBe(202);
  await account.call('DELETE', `/api_keys/${body.id}`);
  const whole = await response.text();
  expect(whole).toContain('"changes":[]');
  expect(whole).not.toContain('complete');
});

describe('refused is', () => {
  test.each<[string, () => Promise<Response>, number, string]>([
    ['a reservation of nobody', () => ask('PUT', undefined, undefined, 'x'.repeat(40)), 401, 'ERR_GATEWAY_203'],
    ['a stream without a reservation', () => ask('GET', 'unknown'), 404, 'ERR_GATEWAY_90338'],
    [
      'a second stream',
      async () => {
        const token = await reserve();
        await open(token);
        return ask('GET', token);
      },
      409,
      'ERR_GATEWAY_90339',
    ],
    [
      'an operation before the stream',
      async () => ask('POST', await reserve(), operation(MARKED)),
      404,
      'ERR_GATEWAY_90338',
    ],
    [
      'the stream of another key',
      async () => {
        const token = await reserve();
        await open(token);
        return ask('POST', token, operation(MARKED), (await gateway.newAccount()).key);
      },
      404,
      'ERR_GATEWAY_90338',
    ],
    [
      'an operation without an id',
      async () => {
        const token = await reserve();
        await open(token);
        return ask('POST', token, { query: MARKED });
      },
      400,
      'ERR_GATEWAY_215',
    ],
    [
      'two operations of one id',
      async () => {
        const token = await reserve();
        await open(token);
        await ask('POST', token, operation(MARKED));
        return ask('POST', token, operation(MARKED));
      },
      409,
      'ERR_GATEWAY_90340',
    ],
    [
      'a document that is none',
      async () => {
        const token = await reserve();
        await open(token);
        return ask('POST', token, operation('{'));
      },
      200,
      'ERR_GATEWAY_90012',
    ],
    [
      'one reservation too many',
      async () => {
        const { key } = await gateway.newAccount();
        for (let i = 0; i < 20; i++) await reserve(key);
        return ask('PUT', undefined, undefined, key);
      },
      429,
      'ERR_GATEWAY_90341',
    ],
  ])('%s', async (_, act, status, errorCode) => {
    expect(await errorOf(await act())).toEqual([status, errorCode]);
  });
});

test('errors of an operation come by the stream, and say who asked is counted', async () => {
  const token = await reserve();
  const { response, all } = await open(token);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const answer = await ask('POST', token, operation('{ credential(id: "cr_x") { id } }'));
  expect([answer.status, answer.headers.get('ratelimit-limit')]).toEqual([202, '1000000']);
  await eventually(() => expect(all.text).toMatch(/"id":"a","payload":\{"errors":.*NOT_FOUND[\s\S]*event: complete/));
});

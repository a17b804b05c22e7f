// GraphQL over WebSockets, as the library graphql-ws and Node's own HTTP clients see it.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { type Client, type ClientOptions, createClient } from 'graphql-ws';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type Account, sharedGateway, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { subscribe } from '../../support/gateway/sse.ts';
import { root } from '../../support/root.ts';
import { addressOf, clientOf, openAs, openSocket, type RawSocket, run } from './socket-client.ts';

const CHANGES = 'subscription { credentialChanged { action objectId credential { description } } }';
const MARKED = 'subscription ($kinds: [String!]) { changes(kinds: $kinds) { changes { objectId } } }';

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

function client(key = account.key, api = gateway.api): Client {
  const made = clientOf(api, key, { retryAttempts: 0 });
  ends.push(() => made.dispose());
  return made;
}

async function socketAs(key = account.key): Promise<RawSocket> {
  const socket = await openAs(gateway.api, key);
  ends.push(() => socket.webSocket.terminate());
  return socket;
}

describe('a client of graphql-ws', () => {
  test('has queries, mutations and twelve subscriptions on one socket, and another connection is answered beside it', async () => {
    const shared = client();
    const streams = Array.from({ length: 12 }, () => run(shared, MARKED, { kinds: ['credential'] }));
    for (const stream of streams) expect(await stream.next()).toEqual({ data: { changes: { changes: [] } } });
    const created = await run(shared, 'mutation { createCredential(input: {}) { credential { id } } }').next();
    const { id } = created.data.createCredential.credential;
    const asked = run(shared, 'query ($id: ID!) { credential(id: $id) { id } }', { id });
    expect(await asked.next()).toEqual({ data: { credential: { id } } });
    expect(await asked.next()).toBeNull();
    expect((await account.call('GET', `/credentials/${id}`)).status).toBe(200);
    for (const stream of streams)
      expect(await stream.next()).toEqual({ data: { changes: { changes: [{ objectId: id }] } } });
  });

  test('is what the manual shows', async () => {
    const page = await readFile(join(root, 'src/manual/clients.md'), 'utf8');
    const [, block = ''] = /```js\nimport \{ createClient \} from 'graphql-ws';\n([\s\S]+?)```/.exec(page) ?? [];
    expect(block).toContain("url: 'ws://127.0.0.1:4000/graphql'");
    const code = block.replace('ws://127.0.0.1:4000/graphql', addressOf(gateway.api));
    const made: Client[] = [];
    const create = (options: ClientOptions) => {
      made.push(createClient({ ...options, webSocketImpl: WebSocket }));
      return made[0];
    };
    const shown = await new Promise((show, report) => {
      new Function('createClient', 'apiKey', 'show', 'report', code)(create, account.key, show, report);
    });
    expect(shown).toEqual({ changes: [] });
    await made[0]?.dispose();
  });

  test('gets errors that say what is wrong, with the id of the operation', async () => {
    const failed = await run(client(), '{ credential(id: "cr_unknown") { id } }').next();
    expect(failed).toMatchObject({
      data: { credential: null },
      errors: [{ path: ['credential'], extensions: { code: 'NOT_FOUND', operationId: expect.stringMatching(/^op_/) } }],
    });
    const { operationId } = failed.errors[0].extensions;
    expect(await gateway.logged((line) => line.operation_id === operationId)).toMatchObject({
      ...{ msg: 'request', method: 'WEBSOCKET', path: '/graphql', status: 200, error_code: 'ERR_GATEWAY_90020' },
      account_id: account.accountId,
    });
  });

  test('is told that a subscription is complete when there is nothing more to come, and only then', async () => {
    const { body } = await account.call('POST', '/event_destinations', { target: { datadog: { api_key: 'secret' } } });
    const query = 'subscription ($id: ID!) { eventDeliveryChanged(destinationId: $id) { state } }';
    const stream = run(client(), query, { id: body.id });
    expect(await stream.next()).toMatchObject({ data: {} });
    await account.call('DELETE', `/event_destinations/${body.id}`);
    expect(await stream.next()).toBeNull();
  });

  test('is told, without what is inside, that a subscription has failed; the socket goes on', async () => {
    const socket = await socketAs();
    const failing = vi.spyOn(gateway.app.changes, 'listen').mockImplementationOnce(() => {
      throw new Error('a secret of the gateway');
    });
    socket.send({ type: 'subscribe', id: 'a', payload: { query: CHANGES } });
    const answer = await socket.next();
    failing.mockRestore();
    expect(answer).toMatchObject({
      type: 'error',
      id: 'a',
      payload: [{ extensions: { code: 'INTERNAL', status: 500 } }],
    });
    expect(JSON.stringify(answer)).not.toContain('secret');
    socket.send({ type: 'subscribe', id: 'a', payload: { query: MARKED } });
    expect(await socket.next()).toMatchObject({ type: 'next', id: 'a' });
  });

  test('gives a subscription back when it stops it', async () => {
    const { webSocket: _, ...socket } = await socketAs();
    for (let round = 0; round < 110; round++) {
      socket.send({ type: 'subscribe', id: `s${round}`, payload: { query: CHANGES } });
      socket.send({ type: 'complete', id: `s${round}` });
    }
    socket.send({ type: 'subscribe', id: 'last', payload: { query: MARKED } });
    expect(await socket.next()).toMatchObject({ type: 'next', id: 'last', payload: { data: { changes: {} } } });
  });
});

describe('the caller of a WebSocket', () => {
  test('may send its key with the request for the WebSocket', async () => {
    const socket = await openSocket(gateway.api, { authorization: `Bearer ${account.key}` });
    ends.push(() => socket.webSocket.terminate());
    socket.send({ type: 'connection_init' });
    expect(await socket.next()).toEqual({ type: 'connection_ack' });
  });

  test.each([
    ['is deleted', 'DELETE', 4403, /not valid: it is unknown or revoked/],
    ['has other rights', 'PATCH', 1012, /rights of its caller changed/],
  ])('is sent away when its key %s: nothing is complete', async (_, method, code, reason) => {
    const { body } = await account.call('POST', '/api_keys', {});
    const [idle, busy] = [await socketAs(body.token), await socketAs(body.token)];
    busy.send({ type: 'subscribe', id: 'a', payload: { query: MARKED } });
    expect(await busy.next()).toMatchObject({ type: 'next', id: 'a' });
    await account.call(method, `/api_keys/${body.id}`, method === 'PATCH' ? { description: 'other' } : undefined);
    for (const socket of [idle, busy]) expect(await socket.closed).toEqual([code, expect.stringMatching(reason)]);
    expect(busy.unread).toEqual([]);
  });

  test('has its subscriptions counted over all transports together', async () => {
    const { body } = await account.call('POST', '/api_keys', {});
    const socket = await socketAs(body.token);
    const stream = await subscribe(gateway.api, body.token, MARKED);
    ends.push(() => stream.close());
    await stream.next();
    for (let i = 0; i < 100; i++) socket.send({ type: 'subscribe', id: `s${i}`, payload: { query: MARKED } });
    const answers = await Promise.all(Array.from({ length: 100 }, () => socket.next()));
    expect(answers.filter(({ type }) => type === 'next')).toHaveLength(99);
    expect(answers.find(({ type }) => type === 'error')).toMatchObject({
      payload: [{ extensions: { code: 'RATE_LIMITED', errorCode: 'ERR_GATEWAY_90314', status: 429 } }],
    });
  });

  test('pays for each operation as for a request', async () => {
    const limited = await startTestGateway({ RATE_LIMIT: '3' });
    ends.push(() => limited.close());
    const socket = await openAs(limited.api, limited.key);
    const answers = [];
    for (const id of ['1', '2', '3', '4']) {
      socket.send({ type: 'subscribe', id, payload: { query: '{ credentials { totalCount } }' } });
      const answer = await socket.next();
      answers.push(answer);
      if (answer.type === 'next') expect(await socket.next()).toEqual({ type: 'complete', id });
    }
    expect(answers[0].type).toBe('next');
    expect(answers.at(-1)).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'RATE_LIMITED', status: 429 } }],
    });
  });
});

describe('a request for something else', () => {
  async function refused(options: object, path = '/graphql') {
    const sent = request(`${gateway.api}${path}`, options);
    sent.end();
    const [response] = await once(sent, 'response');
    return { status: response.statusCode, body: (await json(response)) as { msg: string } };
  }
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'graphql-transport-ws',
  };

  test.each([
    ['another path', upgrade, '/credentials', 400, /WebSockets at \/graphql|has them at \/graphql/],
    [
      'another subprotocol',
      { ...upgrade, 'sec-websocket-protocol': 'graphql-ws' },
      '/graphql',
      400,
      /graphql-transport-ws/,
    ],
    ['no subprotocol', { ...upgrade, 'sec-websocket-protocol': undefined }, '/graphql', 400, /graphql-transport-ws/],
    ['another version', { ...upgrade, 'sec-websocket-version': '8' }, '/graphql', 400, /Sec-WebSocket-Version: 13/],
    [
      'an origin that nobody allowed',
      { ...upgrade, origin: 'https://elsewhere.example' },
      '/graphql',
      403,
      /CORS_ORIGINS/,
    ],
  ])('with %s is told what is spoken', async (_, all, path, status, text) => {
    const headers = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const answer = await refused({ headers }, path);
    expect(answer).toMatchObject({ status, body: { status_code: status, error_code: expect.any(String) } });
    expect(answer.body.msg).toMatch(text);
  });

  test('as clients offer HTTP/2 or TLS with each request is served as if they had not', async () => {
    for (const offered of ['h2c', 'TLS/1.2']) {
      const answer = await account.call(
        'POST',
        '/credentials',
        { description: offered },
        {
          headers: { connection: 'Upgrade', upgrade: offered },
        },
      );
      expect(answer).toMatchObject({ status: 201, body: { description: offered } });
    }
  });

  test('the address of WebSockets is that of everything in GraphQL', () => {
    expect(addressOf(gateway.api)).toBe(`${gateway.api.replace('http:', 'ws:')}/graphql`);
  });
});

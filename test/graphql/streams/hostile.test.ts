// What a WebSocket may not do, and that nothing is held by those who try.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, documentId, signedIn, startWithDashboard } from '../../sign-in/browser.ts';
import type { Account, TestGateway } from '../../support/gateway/gateway.ts';
import { openAs, openSocket, type RawSocket } from './socket-client.ts';

const WRITE_STALL_MS = 1500;
const bomb = `query { ...a0 } ${Array.from({ length: 40 }, (_, i) => `fragment a${i} on Query { ...a${i + 1} ...a${i + 1} }`).join(' ')} fragment a40 on Query { __typename }`;

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await startWithDashboard({}, { writeStallMs: WRITE_STALL_MS });
  account = await gateway.newAccount();
});
afterAll(() => gateway?.close());

const init = (authorization: string) => ({ type: 'connection_init', payload: { authorization } });
const subscribe = (query: string, more: object = {}, id = 'a') => ({
  type: 'subscribe',
  id,
  payload: { query, ...more },
});

test.each<[string, (socket: RawSocket) => unknown, number, RegExp]>([
  ['no init', () => undefined, 4408, /initialisation timeout/i],
  ['an operation before the init', ({ send }) => send(subscribe('{ __typename }')), 4401, /Unauthorized/],
  ['an init without a key', ({ send }) => send({ type: 'connection_init' }), 4401, /Send an API key/],
  ['a wrong key', ({ send }) => send(init(`Bearer ${'x'.repeat(40)}`)), 4403, /not valid/],
  ['a text that is no key', ({ send }) => send(init('x')), 4403, /must be "Bearer"/],
  ['a binary frame', ({ webSocket }) => webSocket.send(Buffer.from('{}'), { binary: true }), 4400, /text/],
  ['no JSON', ({ webSocket }) => webSocket.send('hello'), 4400, /JSON/],
  ['a member twice', ({ webSocket }) => webSocket.send('{"type":"ping","type":"ping"}'), 4400, /more than once/],
  ['a message of another protocol', ({ send }) => send({ type: 'start', id: '1' }), 4400, /Invalid message/],
  ['a message that is too large', ({ send }) => send({ type: 'ping', payload: { a: 'x'.repeat(70_000) } }), 1009, /^$/],
])('%s ends it', async (_, act, code, reason) => {
  const socket = await openSocket(gateway.api);
  act(socket);
  expect(await socket.closed).toEqual([code, expect.stringMatching(reason)]);
});

test.each<[string, object[], number, RegExp]>([
  ['two inits', [init('Bearer x')], 4429, /Too many/],
  [
    'the same id twice',
    [subscribe('subscription { changes { changes { kind } } }'), subscribe('{ __typename }')],
    4409,
    /already exists/,
  ],
])('%s end it', async (_, messages, code, reason) => {
  const socket = await openAs(gateway.api, account.key);
  for (const message of messages) socket.send(message);
  expect(await socket.closed).toEqual([code, expect.stringMatching(reason)]);
});

test.each<[string, object, string]>([
  ['an operation that there is not', subscribe('query A { __typename }', { operationName: 'B' }), 'ERR_GATEWAY_90012'],
  ['a bomb of fragments', subscribe(bomb), 'ERR_GATEWAY_90013'],
  [
    'a subscription that is too large',
    subscribe(`subscription { credentialChanged { ${Array.from({ length: 51 }, (_, i) => `a${i}: action`)} } }`),
    'ERR_GATEWAY_90013',
  ],
  ['a document that is none', subscribe('{'), 'ERR_GATEWAY_90012'],
  [
    'variables that are none',
    subscribe('{ __typename }', { extensions: { persistedQuery: { version: 2 } } }),
    'ERR_GATEWAY_215',
  ],
])('%s is an error of that operation, and the socket goes on', async (_, message, errorCode) => {
  const socket = await openAs(gateway.api, account.key);
  socket.send(message);
  expect(await socket.next()).toMatchObject({
    type: 'error',
    id: 'a',
    payload: [{ extensions: { errorCode, operationId: expect.any(String) } }],
  });
  socket.send(subscribe('{ credentials { totalCount } }'));
  expect(await socket.next()).toMatchObject({
    type: 'next',
    payload: { data: { credentials: { totalCount: 0 } } },
  });
  socket.webSocket.terminate();
});

test('more operations than there may be are refused one by one', async () => {
  const socket = await openAs(gateway.api, account.key);
  const query = 'subscription { changes { changes { kind } } }';
  for (let i = 0; i < 130; i++) socket.send(subscribe(query, {}, `${i}`));
  const answers = [];
  while (answers.length < 130) answers.push(await socket.next());
  const refused = answers.flatMap(({ type, payload }) => (type === 'error' ? [payload[0].extensions.errorCode] : []));
  // Those beyond 128 at once for the socket, the others for the caller.
  expect(refused).toHaveLength(30);
  for (const code of refused) expect(['ERR_GATEWAY_90329', 'ERR_GATEWAY_90314']).toContain(code);
  socket.webSocket.terminate();
});

test('one caller has a hundred sockets at most; one that ends makes room', async () => {
  const { key } = await gateway.newAccount();
  const all = [];
  for (let i = 0; i < 100; i++) all.push(await openAs(gateway.api, key));
  const one = await openSocket(gateway.api);
  one.send(init(`Bearer ${key}`));
  expect(await one.closed).toEqual([1013, expect.stringMatching(/100 WebSockets/)]);
  all[0]?.webSocket.close();
  await all[0]?.closed;
  await gateway.logged(({ status, close_code }) => status === 101 && close_code === 1005);
  all.push(await openAs(gateway.api, key));
  for (const { webSocket } of all) webSocket.terminate();
});

test('whoever does not read is not answered without end, and is cut off with a reason', async () => {
  const socket = await openAs(gateway.api, account.key);
  socket.webSocket.pause();
  const ping = JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(60_000) } });
  const closed = gateway.logged(({ close_code }) => close_code === 4460);
  let sent = 0;
  const timer = setInterval(() => {
    for (let i = 0; i < 50 && socket.webSocket.bufferedAmount < 1024 * 1024; i++) {
      socket.webSocket.send(ping);
      sent += ping.length;
    }
  }, 10);
  expect(await closed).toMatchObject({ status: 101, close_reason: expect.stringContaining('does not read') });
  clearInterval(timer);
  // It stops to read. What it has read and answered is in the buffers of two sockets.
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  socket.webSocket.terminate();
});

describe('a browser session', () => {
  const watched = { query: '', documentId: documentId('watch') };
  const openWith = async ({ cookie, secret }: Browser, origin = gateway.api) => {
    const socket = await openSocket(gateway.api, { cookie: `__Host-gateway_session=${cookie}`, origin });
    socket.send({ type: 'connection_init', payload: { 'Gateway-Dashboard': secret } });
    return socket;
  };
  let browser: Browser;
  beforeAll(async () => {
    const user = await account.addOwner();
    browser = await signedIn(gateway, account.key, user.ownerId);
  });

  test('runs the dashboard’s own documents on a socket, and nothing else; it ends with the session', async () => {
    const socket = await openWith(browser);
    expect(await socket.next()).toEqual({ type: 'connection_ack' });
    socket.send({ type: 'subscribe', id: 'own', payload: { query: '{ credentials { totalCount } }' } });
    expect(await socket.next()).toMatchObject({ type: 'error', payload: [{ extensions: { code: 'FORBIDDEN' } }] });
    socket.send({ type: 'subscribe', id: 'known', payload: watched });
    await account.call('POST', '/credentials', {});
    expect(await socket.next()).toMatchObject({
      type: 'next',
      payload: { data: { credentialChanged: { action: 'CREATED' } } },
    });
    await browser.ask('signOut');
    expect((await socket.closed)[0]).toBe(4403);
  });

  test('cannot be used by a page of elsewhere, nor without the secret of a page of ours', async () => {
    await expect(openWith(browser, 'https://elsewhere.example')).rejects.toThrow('403');
    const stolen = await openWith({ ...browser, cookie: 'a'.repeat(43), secret: undefined });
    expect(await stolen.closed).toEqual([4403, expect.stringMatching(/browser session works for the dashboard only/)]);
    const nobody = await openWith({ ...browser, cookie: 'a'.repeat(43), secret: 'a'.repeat(43) });
    expect(await nobody.closed).toEqual([4403, expect.stringMatching(/session/)]);
  });
});

// What is open in a session ends with it, at once and wherever it is.

import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import type { Browser } from './browser.ts';
import { type Stage, setStage } from './support.ts';

let gateway: TestGateway;
let stage: Stage;

beforeAll(async () => {
  gateway = await sharedGateway();
  stage = await setStage(gateway);
});
afterAll(() => stage.close());

/** Opens a WebSocket in the session of a browser. @returns what resolves when it is closed. */
async function openSocket(
  origin: string,
  browser: Browser,
): Promise<{ closed: Promise<number>; echo(text: string): Promise<string> }> {
  const { host, hostname } = new URL(origin);
  const socket = new WebSocket(`ws://${gateway.http}/socket`, { headers: { host, cookie: browser.header(hostname) } });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  socket.on('error', () => undefined);
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  return {
    closed,
    echo: (text) =>
      new Promise((resolve) => {
        socket.once('message', (data) => resolve(String(data)));
        socket.send(text);
      }),
  };
}

/** Opens a stream of events. @returns what resolves when it is cut. */
async function openStream(origin: string, browser: Browser): Promise<Promise<string>[]> {
  const { host, hostname } = new URL(origin);
  const [address, port] = gateway.http.split(':');
  return new Promise((resolve, reject) => {
    const headers = { host, cookie: browser.header(hostname) };
    request({ host: address, port, path: '/stream', headers, agent: false }, (response) => {
      const over = new Promise<string>((settle) => {
        response
          .on('aborted', () => settle('cut'))
          .on('end', () => settle('ended'))
          .on('error', () => settle('cut'));
      });
      response.once('data', () => resolve([over]));
    })
      .on('error', reject)
      .end();
  });
}

const asData = { headers: { 'sec-fetch-dest': 'empty' } };

test.each([
  ['one session is ended', (id: string) => endOne(id)],
  ['its user is deleted', (id: string) => deleteUserOf(id)],
])('WebSockets and streams are cut when %s, and those of others stay', async (_, revoke) => {
  const origin = await stage.serve();
  const [first, second] = await Promise.all([stage.signIn(`${origin}/`, 'ann'), stage.signIn(`${origin}/`, 'bob')]);
  const [socket, other] = await Promise.all([openSocket(origin, first.browser), openSocket(origin, second.browser)]);
  const [stream] = await openStream(origin, first.browser);
  expect(await socket.echo('a')).toBe('a');
  expect((await first.browser.open(`${origin}/`, asData)).status).toBe(200);

  await revoke(await sessionOf('ann', origin));
  expect(await socket.closed).toBeGreaterThan(0);
  expect(await stream).toBe('cut');
  expect((await first.browser.open(`${origin}/`, asData)).status).toBe(401);
  expect(await other.echo('b')).toBe('b');
  expect((await second.browser.open(`${origin}/`, asData)).status).toBe(200);
});

test('a WebSocket without a session is refused, and not redirected', async () => {
  const origin = await stage.serve();
  await expect(openSocket(origin, stage.browser())).rejects.toThrow(/401/);
});

test('a visitor is listed as the provider says, and asked to sign in again once signed out', async () => {
  const origin = await stage.serve();
  stage.provider.users.set('cleo', { name: 'Cleo of Delphi', email: 'cleo@example.org', email_verified: true });
  const { browser } = await stage.signIn(`${origin}/`, 'cleo');

  const found = await gateway.call('GET', `/app/users?filter=${encodeURIComponent('obj.email == "cleo@example.org"')}`);
  const [user] = found.body.application_users;
  expect(found.body.application_users).toHaveLength(1);
  expect(user).toMatchObject({
    identity_provider: { name: new URL(stage.provider.issuer).host, url: stage.provider.issuer },
    provider_user_id: 'cleo',
    name: 'Cleo of Delphi',
  });
  const ofUser = `obj.application_user.id == "${user.id}"`;
  const query = `query ($filter: String) { appSessions(filter: $filter) { nodes {
    id uri publicUrl browserSession { ipAddress location { countryCode } } applicationUser { id } endpoint { id }
  } } appUser(id: "${user.id}") { name email providerUserId } }`;
  const { data } = (await gateway.graphql(query, { filter: ofUser })).body;
  expect(data.appUser).toEqual({ name: 'Cleo of Delphi', email: 'cleo@example.org', providerUserId: 'cleo' });
  const [session] = data.appSessions.nodes;
  expect(session).toMatchObject({
    publicUrl: origin,
    browserSession: { ipAddress: '127.0.0.1', location: null },
    applicationUser: { id: user.id },
  });
  const { body: endpoint } = await gateway.call('GET', `/endpoints/${session.endpoint.id}`);
  expect(endpoint.public_url).toBe(origin);

  expect((await (await gateway.newAccount()).call('DELETE', session.uri)).status).toBe(404);
  expect((await browser.open(`${origin}/`, { follows: false })).status).toBe(200);
  expect((await gateway.call('DELETE', session.uri)).status).toBe(204);
  expect((await gateway.call('GET', session.uri)).status).toBe(404);
  const history = 'query ($id: ID!) { objectHistory(id: $id) { nodes { action kind actorId before } } }';
  expect((await gateway.graphql(history, { id: session.id })).body.data.objectHistory.nodes).toMatchObject([
    { action: 'DELETED', kind: 'appSession', actorId: gateway.ownerId, before: { public_url: origin } },
  ]);
  const asked = await browser.open(`${origin}/`, { follows: false });
  expect(asked.status).toBe(303);
  expect(asked.headers.location).toContain(stage.provider.issuer);
  expect((await gateway.call('GET', user.uri)).status).toBe(200);
});

/** The session of a user at an endpoint. */
async function sessionOf(subject: string, origin: string): Promise<string> {
  const where = { accountId: gateway.accountId, publicUrl: origin, user: { subject } };
  return (await gateway.app.prisma.appSession.findFirstOrThrow({ where })).id;
}

async function endOne(id: string): Promise<void> {
  expect((await gateway.call('DELETE', `/app/sessions/${id}`)).status).toBe(204);
}

async function deleteUserOf(id: string): Promise<void> {
  const { body: session } = await gateway.call('GET', `/app/sessions/${id}`);
  expect((await gateway.call('DELETE', session.application_user.uri)).status).toBe(204);
}

// The tunnels behind edges: who is chosen by labels, and whose turn it is.

import { once } from 'node:events';
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { newCredential, type TestCredential } from '../../support/agents/live.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { listen } from '../../support/events/traffic.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { type Identity, newIssuer } from '../../support/issuer.ts';
import { backendOf, done, errorOf, labelled, newEdge, newName, shown, startShowing, visitEdge } from './support.ts';

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  credential = await newCredential(account);
});

const session = () => sdkSession(gateway, credential.authtoken);
const who = async (edge: { name: string }, path = '/') => {
  const answer = await visitEdge(gateway, edge, path);
  return answer.status === 200 ? shown(answer).upstream : errorOf(answer);
};

test('a tunnel needs all pairs of the backend, and may have more', async () => {
  const app = newName();
  const edge = await newEdge(account, { labels: { app, stage: 'live' } });
  const agent = await session();
  const [one, two] = [await startShowing('one'), await startShowing('two')];
  await labelled(agent, { app }, one.url);
  await labelled(agent, { app, stage: 'test' }, one.url);
  await labelled(agent, { stage: 'live' }, one.url);
  expect(await who(edge)).toBe(6528);
  await labelled(agent, { app, stage: 'live', region: 'north' }, two.url);
  expect([await who(edge), await who(edge)]).toEqual(['two', 'two']);
  await done(account, 'PUT', `${edge.host}/backend`, await backendOf(account, { app }));
  expect(new Set([await who(edge), await who(edge), await who(edge)])).toEqual(new Set(['one', 'two']));
});

test('a backend whose labels change has other tunnels at once, and one that is used stays', async () => {
  const [old, next] = [{ app: newName() }, { app: newName() }];
  const agent = await session();
  await labelled(agent, old, (await startShowing('old')).url);
  await labelled(agent, next, (await startShowing('next')).url);
  const edge = await newEdge(account, { labels: old });
  const { backend } = (await done(account, 'GET', edge.host)).backend;
  expect(await who(edge)).toBe('old');
  await done(account, 'PATCH', `/backends/tunnel_group/${backend.id}`, { labels: next });
  expect(await who(edge)).toBe('next');
  expect((await account.call('DELETE', `/backends/tunnel_group/${backend.id}`)).status).toBe(409);
  expect(await who(edge)).toBe('next');
});

test('another account’s tunnel with the same labels gets none of the traffic', async () => {
  const labels = { app: newName() };
  const stranger = await gateway.newAccount();
  const { authtoken } = await newCredential(stranger);
  await labelled(await sdkSession(gateway, authtoken), labels, (await startShowing()).url);
  expect(await who(await newEdge(account, { labels }))).toBe(6528);
});

test('requests are shared out evenly among tunnels, also those of one connection; one that goes is out at once', async () => {
  const labels = { app: newName() };
  const edge = await newEdge(account, { labels });
  const [one, two] = [await startShowing('one'), await startShowing('two')];
  const [first, second] = [await session(), await session()];
  await labelled(first, labels, one.url);
  const leaving = await labelled(second, labels, two.url);
  const [host, port] = gateway.https.split(':');
  const socket = connectTls({ host, port: Number(port), servername: edge.name, ca: gateway.ca });
  onTestFinished(() => void socket.destroy());
  for (let i = 0; i < 10; i++) expect(await getOn(socket, edge.name)).toBe(200);
  expect([one.requests, two.requests]).toEqual([5, 5]);
  await leaving.close();
  for (let i = 0; i < 4; i++) expect(await getOn(socket, edge.name)).toBe(200);
  expect([one.requests, two.requests]).toEqual([9, 5]);
});

test('a TLS edge passes connections through whole, each to the tunnel whose turn it is', async () => {
  const labels = { app: newName() };
  const edge = await newEdge(account, { kind: 'tls', labels });
  const agent = await session();
  // Each says who it is after a handshake with a certificate of its own, which the gateway has not got.
  const issuer = await newIssuer('CN=of the upstreams');
  const identity = await issuer.issue({ dns: [edge.name], purpose: 'server' });
  for (const name of ['one', 'two']) await labelled(agent, labels, await greeter(name, identity));
  const greetings: string[] = [];
  for (let i = 0; i < 6; i++) greetings.push(await greetingOf(edge.name, issuer.cert));
  expect(greetings.sort()).toEqual(['one', 'one', 'one', 'two', 'two', 'two']);
  await done(account, 'DELETE', `${edge.at}/backend`);
  await expect(greetingOf(edge.name, issuer.cert)).rejects.toThrow();
});

/** One request on a connection that stays. @returns the status. */
async function getOn(socket: TLSSocket, host: string): Promise<number> {
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  let text = '';
  while (!text.endsWith('\r\n0\r\n\r\n')) {
    const [chunk] = await once(socket, 'data');
    text += chunk;
  }
  return Number(text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
}

/** A TLS server that says a name and ends. @returns its address as a URL. */
async function greeter(name: string, { cert, key }: Identity): Promise<string> {
  const server = createTlsServer({ cert, key }, (socket) => socket.on('error', () => {}).end(name));
  return (await listen(server)).replace('http', 'tcp');
}

async function greetingOf(servername: string, ca: string): Promise<string> {
  const [host, port] = gateway.https.split(':');
  const socket = connectTls({ host, port: Number(port), servername, ca });
  onTestFinished(() => void socket.destroy());
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += chunk;
  return text;
}

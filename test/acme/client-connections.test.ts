// How the ACME client connects, whom it trusts, and when it gives up.

import type { Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../src/net/free-port.ts';
import { newLoopbackIdentity } from '../support/acme/loopback-identity.ts';
import { startAcmeServer } from '../support/acme/server.ts';
import {
  agreed,
  clientOf,
  directoryOf,
  exceptForOrders,
  newClient,
  order,
  started,
  unreachable,
} from './odd-servers.ts';

test('every request names the client, and what is posted uses one connection', async () => {
  const agents = new Set<unknown>();
  const ports = new Set<unknown>();
  const { client } = await clientOf((request, response, base) => {
    agents.add(request.headers['user-agent']);
    if (request.method === 'POST') ports.add(request.socket.remotePort);
    exceptForOrders(() => {})(request, response, base);
  });
  for (let count = 0; count < 3; count++) await client.openAccount(agreed);
  expect([...agents]).toEqual(['tunnel-gateway-tests']);
  expect(ports.size).toBe(1);
});

test('a nonce that an answer brings is used for the next request', async () => {
  const server = await startAcmeServer({ scheme: 'http' });
  onTestFinished(() => server.stop());
  const client = await newClient(server.directoryUrl);
  await client.openAccount(agreed);
  await client.newOrder(order);
  await client.newOrder(order);
  expect(server.requests).toEqual(['directory', 'newNonce', 'newAccount', 'newOrder', 'newOrder']);
});

test('a directory without TLS is for this machine only', async () => {
  const message =
    '"http://ca.example/dir" does not begin with https://, without which an ACME server is asked at loopback addresses only.';
  await expect(newClient('http://ca.example/dir')).rejects.toThrow(message);
  await expect(newClient('ca.example')).rejects.toThrow('"ca.example" is not a URL of an ACME server.');
});

test('a directory that leads elsewhere without TLS is not followed', async () => {
  const { client } = await clientOf((_, response) => response.end(directoryOf('http://ca.example')));
  expect(await unreachable(client.openAccount(agreed))).toContain('does not begin with https://');
});

test('a server that is not there refuses connections', async () => {
  const host = `127.0.0.1:${await freePort('127.0.0.1')}`;
  const client = await newClient(`https://${host}/dir`);
  expect(await unreachable(client.directory())).toBe(`The ACME server at ${host} refuses connections.`);
});

test('the certificate of a server must be of a known authority, or of the one that is added', async () => {
  const { cert, key, ca } = await newLoopbackIdentity();
  const server = createHttpsServer({ cert, key }, (_, response) => response.end(directoryOf('https://x.example')));
  const host = await started(server as unknown as Server);
  const stranger = await newClient(`https://${host}/dir`);
  expect(await unreachable(stranger.directory())).toMatch(/has a certificate that is not trusted \([A-Z_]+\)\.$/);
  const friend = await newClient(`https://${host}/dir`, { ca });
  expect((await friend.directory()).newOrder).toBe('https://x.example/order');
});

test('an authority that is added must be in PEM', async () => {
  await expect(newClient('https://ca.example/dir', { ca: 'ca.pem' })).rejects.toThrow('must be certificates in PEM');
});

test('a server without TLS does not speak it', async () => {
  const { host } = await clientOf((_, response) => response.end());
  const client = await newClient(`https://${host}/dir`);
  expect(await unreachable(client.directory())).toMatch(/does not speak TLS as expected \([A-Z_]+\)\.$/);
});

test('a request fails when the client is closed', async () => {
  const { client } = await clientOf(() => client.close());
  expect(await unreachable(client.directory())).toContain('closed the connection without a complete answer');
});

test('a server that never answers is given up in time', async () => {
  const { client, host } = await clientOf(() => {}, { timeoutMs: 50 });
  expect(await unreachable(client.directory())).toBe(`The ACME server at ${host} did not answer within 0.05 seconds.`);
});

test('so is one whose answer never ends', async () => {
  const { client } = await clientOf((_, response) => void response.write('{'), { timeoutMs: 50 });
  expect(await unreachable(client.directory())).toContain('did not answer within');
});

test('whoever cancels gets their own reason, during a request and before one', async () => {
  const controller = new AbortController();
  const reason = new Error('the gateway stops');
  const { client } = await clientOf(() => controller.abort(reason), { signal: controller.signal });
  await expect(client.directory()).rejects.toBe(reason);
  await expect(client.directory()).rejects.toBe(reason);
});

// What the ACME client makes of answers that are none of an ACME server.

import { expect, test } from 'vitest';
import { newAccountKey } from '../../src/acme/client/account-key.ts';
import { AcmeClient } from '../../src/acme/client/client.ts';
import { agreed, clientOf, directoryOf, exceptForOrders, order, unreachable } from './odd-servers.ts';

test('an answer without end is cut off', async () => {
  const { client, host } = await clientOf((_, response) => {
    const write = () => void (response.write('x'.repeat(65_536)) ? setImmediate(write) : response.once('drain', write));
    write();
  });
  expect(await unreachable(client.directory())).toBe(`The ACME server at ${host} answered with more than 1 MB.`);
});

test('an answer that is cut off is none', async () => {
  const { client } = await clientOf((_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('{}', () => response.destroy());
  });
  expect(await unreachable(client.directory())).toContain('closed the connection without a complete answer');
});

test('what is not HTTP is said to be none', async () => {
  const { client } = await clientOf((request) => request.socket.end('220 mail.example ESMTP\r\n'));
  expect(await unreachable(client.directory())).toMatch(/does not answer with HTTP \(HPE_\w+\)/);
});

test.each([
  { what: 'a page', type: 'text/html', body: '<html>', says: 'did not answer with a JSON object, but with text/html' },
  { what: 'a list', type: 'application/json', body: '[]', says: 'did not answer with a JSON object' },
  {
    what: 'another object',
    type: 'application/json',
    body: '{}',
    says: 'no proper directory: "newNonce" is not a string',
  },
])('$what is no directory', async ({ type, body, says }) => {
  const { client } = await clientOf((_, response) => response.setHeader('content-type', type).end(body));
  expect(await unreachable(client.directory())).toContain(says);
});

test('a directory is read whatever its media type is', async () => {
  const { client } = await clientOf((_, response, base) =>
    response.setHeader('content-type', 'text/plain').end(directoryOf(base)),
  );
  expect((await client.directory()).meta).toEqual({
    termsOfService: undefined,
    website: undefined,
    externalAccountRequired: false,
    profiles: {},
    caaIdentities: [],
  });
});

test('a redirection is not followed, and the error says where it leads', async () => {
  let posts = 0;
  const { client } = await clientOf(
    exceptForOrders((_, response) => {
      posts++;
      response.writeHead(307, { location: 'https://elsewhere.example/order' }).end();
    }),
  );
  await client.openAccount(agreed);
  expect(await unreachable(client.newOrder(order))).toContain(
    'redirects to https://elsewhere.example/order, which is not followed',
  );
  expect(posts).toBe(1);
});

test.each([
  { what: 'without a place', body: '{}', says: 'did not say where the new object is' },
  { what: 'without a status', body: '{}', location: '/order/1', says: 'no proper order: "status" is not a string' },
  {
    what: 'that expires at no time',
    body: '{"status":"pending","expires":"soon"}',
    location: '/order/1',
    says: 'no proper order: "expires" is not a time',
  },
])('an order $what is none', async ({ body, location, says }) => {
  const { client } = await clientOf(
    exceptForOrders((_, response) => {
      if (location) response.setHeader('location', location);
      response.writeHead(201).end(body);
    }),
  );
  await client.openAccount(agreed);
  expect(await unreachable(client.newOrder(order))).toContain(says);
});

test('a server without nonces is none', async () => {
  const { client } = await clientOf((request, response, base) =>
    response.end(request.url === '/dir' ? directoryOf(base) : undefined),
  );
  expect(await unreachable(client.openAccount(agreed))).toContain('answered without a nonce');
});

test('what a server does not offer is said', async () => {
  const { client } = await clientOf(exceptForOrders(() => {}));
  await client.openAccount(agreed);
  expect(await unreachable(client.changeKey(await newAccountKey()))).toContain('does not offer to change the key');
  expect(await client.renewalInfo('AAAA.AAAA')).toBeUndefined();
});

test('an account must be opened before anything is ordered', async () => {
  const { client } = await clientOf(exceptForOrders(() => {}));
  await expect(client.newOrder(order)).rejects.toThrow('The ACME account must be opened before it is used.');
});

test.each(['no key', ''])('%j is no key of an account', (key) => {
  const options = { directoryUrl: 'https://ca.example/dir', userAgent: 'tunnel-gateway-tests' };
  expect(() => new AcmeClient(options, key)).toThrow('must be an ECDSA key on the curve P-256 in PEM');
});

test('a long reason is cut', async () => {
  const detail = 'x'.repeat(10_000);
  const { client } = await clientOf(
    exceptForOrders((_, response) => response.writeHead(400).end(JSON.stringify({ type: 'about:blank', detail }))),
  );
  await client.openAccount(agreed);
  await expect(client.newOrder(order)).rejects.toMatchObject({ type: 'about:blank', detail: 'x'.repeat(2000) });
});

// Servers on this machine that answer the ACME client as no authority should. Whatever is started ends with the test.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { newAccountKey } from '../../src/acme/client/account-key.ts';
import { AcmeClient, type AcmeClientOptions } from '../../src/acme/client/client.ts';
import { AcmeUnreachable } from '../../src/acme/client/problem.ts';

export type Handle = (request: IncomingMessage, response: ServerResponse, base: string) => void;

export async function started(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server without TLS on this machine. @returns where it is, and a client of it. */
export async function clientOf(handle: Handle, options: Partial<AcmeClientOptions> = {}) {
  const server = createServer((request, response) => handle(request, response, `http://${host}`));
  const host = await started(server);
  return { host, client: await newClient(`http://${host}/dir`, options) };
}

export async function newClient(directoryUrl: string, options: Partial<AcmeClientOptions> = {}): Promise<AcmeClient> {
  const client = new AcmeClient({ directoryUrl, userAgent: 'tunnel-gateway-tests', ...options }, await newAccountKey());
  onTestFinished(() => client.close());
  return client;
}

export const directoryOf = (base: string) =>
  JSON.stringify({ newNonce: `${base}/nonce`, newAccount: `${base}/account`, newOrder: `${base}/order` });

/** Answers as a server that has an account, but for what is posted to newOrder. */
export const exceptForOrders =
  (handle: Handle): Handle =>
  (request, response, base) => {
    response.setHeader('replay-nonce', 'bm9uY2U');
    if (request.url === '/dir') response.end(directoryOf(base));
    else if (request.url === '/account') response.setHeader('location', `${base}/account/1`).end('{}');
    else if (request.url === '/order') handle(request, response, base);
    else response.end();
  };

export const agreed = { termsOfServiceAgreed: true } as const;
export const order = { names: ['a.example.com'] };

/** The message of an `AcmeUnreachable`. */
export async function unreachable(call: Promise<unknown>): Promise<string> {
  const error = await call.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(AcmeUnreachable);
  return (error as AcmeUnreachable).message;
}

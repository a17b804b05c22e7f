// Sessions of an existing SDK with the gateway that the tests of a worker share.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { beforeAll } from 'vitest';
import { newCredential, type TestCredential } from '../support/agents/live.ts';
import { httpName, SDK_PREFIX, type SdkSession, sdkSession } from '../support/agents/sdk.ts';
import { listen, startUpstream } from '../support/events/traffic.ts';
import { eventually } from '../support/eventually.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { hops } from '../support/gateway/place.ts';
import { visit } from '../support/visit.ts';

/** An account of its own for the tests of the file that calls this. @param prefix of the names that sessions bind. */
export function sdkLab(prefix: string) {
  let gateway: TestGateway;
  let account: Account;
  let credential: TestCredential;
  let names = 0;
  beforeAll(async () => {
    gateway = await sharedGateway();
    account = await gateway.newAccount();
    credential = await newCredential(account);
  });

  const newName = () => `${prefix}-${++names}.tunnel.localhost`;
  const connected = () => sdkSession(gateway, credential.authtoken);
  const placeOf = (listener: { url(): string | null }) => ({ url: String(listener.url()), listener: gateway.http });
  const get = (url: string | null) => visit(String(url), gateway.http);

  /** A session with one name that answers `hello`. */
  async function hello(name = newName(), session?: SdkSession) {
    const upstream = await startUpstream((_, response) => response.end('hello'));
    const own = session ?? (await connected());
    const listener = await httpName(own, name).listenAndForward(upstream.url);
    return { session: own, listener, upstream, name };
  }

  return {
    get gateway() {
      return gateway;
    },
    get account() {
      return account;
    },
    get credential() {
      return credential;
    },
    newName,
    connected,
    placeOf,
    get,
    hello,
  };
}

/** The number of the code that the SDK found. */
export const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    ({ errorCode }) => Number(String(errorCode).replace(SDK_PREFIX, '')),
  );

/** A TCP server that says what it hears. @returns its URL. */
export const echoServer = async () =>
  (await listen(createServer((socket) => socket.on('error', () => {}).pipe(socket)))).replace('http', 'tcp');

/** Expects something at once, and of a node that does not have the agent a moment later: it has to hear of it first. */
export const soon = <T>(check: () => Promise<T>): Promise<T> => (hops ? eventually(check) : check());

/** A connection to a TCP endpoint. */
export const connectTo = (url: string | null): Promise<Socket> =>
  soon(async () => {
    const visitor = connect(Number(new URL(String(url)).port), '127.0.0.1');
    await once(visitor, 'connect');
    return visitor.on('error', () => {});
  });

/** Says something to a TCP endpoint. @returns what comes back until the end. */
export async function sayTo(url: string | null, text: string): Promise<string> {
  const visitor = await connectTo(url);
  visitor.end(text);
  let got = '';
  for await (const chunk of visitor.setEncoding('utf8')) got += chunk;
  return got;
}

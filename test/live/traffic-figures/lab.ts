// A gateway with a clock of the tests, whose figures are asked for by GraphQL.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { newCredential, type TestCredential } from '../../support/agents/live.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { listen } from '../../support/events/traffic.ts';
import { type Account, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';

export let gateway: TestGateway;
export let account: Account;
export let credential: TestCredential;

const BUCKET_MS = 10_000;
/** Of the clock: one second after a bucket has begun. It goes only when a test says so. */
let time = Math.floor(Date.now() / 3_600_000) * 3_600_000 + 1000;

export const clock = {
  now: () => time,
  /** So many buckets pass. */
  pass: (buckets: number) => {
    time += buckets * BUCKET_MS;
  },
  /** The start of the bucket. */
  get bucket() {
    return time - (time % BUCKET_MS);
  },
};

export function useGateway(overrides: Record<string, string> = {}): void {
  beforeAll(async () => {
    gateway = await startTestGateway(overrides, { now: clock.now });
    account = await gateway.newAccount();
    credential = await newCredential(account);
  });
  afterAll(() => gateway?.close());
}

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
export async function ask(query: string, variables: object = {}, by: Pick<Account, 'graphql'> = account): Promise<any> {
  const { body } = await by.graphql(query, variables);
  expect(body.errors).toBeUndefined();
  return body.data;
}

export const POINT = `at requests responses { informational success redirection clientError serverError none }
  duration { p50 p95 p99 } firstByte { p50 p95 p99 } bytesIn bytesOut openConnections connections`;

/** What a service answers with, for as long as a test says nothing else: 200 and the path. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A service of the running test's own. @returns its URL. */
export async function startService(answer: Answer): Promise<string> {
  const server = createServer(answer);
  onTestFinished(() => void server.closeAllConnections());
  return listen(server);
}

export const openSdk = () => sdkSession(gateway, credential.authtoken);

/** The id of the endpoint at a name. */
export async function endpointIdOf(name: string): Promise<string> {
  const { endpoints } = await ask('{ endpoints { nodes { id hostport } } }');
  return endpoints.nodes.find(({ hostport }: { hostport: string }) => hostport.startsWith(`${name}:`)).id;
}

// A gateway whose endpoints are asked for by GraphQL.

import { beforeAll, expect } from 'vitest';
import { newCredential, type TestCredential } from '../../support/agents/live.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { eventually } from '../../support/eventually.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

export let gateway: TestGateway;
export let account: Account;
export let credential: TestCredential;
/** An account of a gateway with short heartbeats, for the tests of a file. */
export function useGateway(): void {
  beforeAll(async () => {
    gateway = await sharedGateway({ HEARTBEAT_TOLERANCE_MS: '2000', HEARTBEAT_INTERVAL_MS: '500' });
    account = await gateway.newAccount();
    credential = await newCredential(account);
  });
}

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
export async function ask(query: string, variables: object = {}, by: Pick<Account, 'graphql'> = account): Promise<any> {
  const { body } = await by.graphql(query, variables);
  expect(body.errors).toBeUndefined();
  return body.data;
}

export const traffic = 'traffic { requests openConnections requestsPerSecond bytesInPerSecond bytesOutPerSecond }';
export const FACTS = `id publicUrl ${traffic} forwardsTo agents roundTrip { at milliseconds }
  tunnelSession { id userAgent arch credential { id } roundTrip { at milliseconds } tunnels { publicUrl forwardsTo } }`;

/** The endpoint of a name, as it is now. */
export async function endpointAt(name: string) {
  const { endpoints } = await ask(`{ endpoints { nodes { hostport ${FACTS} } } }`);
  // biome-ignore lint/suspicious/noExplicitAny: likewise.
  return endpoints.nodes.find(({ hostport }: any) => hostport.startsWith(`${name}:`));
}

export const until = (check: () => unknown) => eventually(check, { timeout: 10_000, interval: 20 });

export const openSdk = () => sdkSession(gateway, credential.authtoken);
export const A_SIGN_OF_LIFE = { at: expect.stringMatching(/Z$/), milliseconds: expect.any(Number) };

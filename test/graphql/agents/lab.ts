// An account whose agents connect, and what GraphQL shows of them.

import { beforeAll, beforeEach, expect } from 'vitest';
import type { OpenedSession } from '../../../src/tunnel/control/registrar.ts';
import { newCredential, openSession, type TestCredential } from '../../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

export type Report = NonNullable<OpenedSession['agent']>;

export let gateway: TestGateway;
export let account: Account;
export let credential: TestCredential;

/** Each test has an account of its own. */
export function useFleet(): void {
  beforeAll(async () => {
    gateway = await sharedGateway();
  });
  beforeEach(async () => {
    account = await gateway.newAccount();
    credential = await newCredential(account, { description: 'Berlin' });
  });
}

let devices = 0;
/** What a new device tells of itself. */
export const report = (more: Partial<Report> = {}): Report => ({
  ...{ deviceId: `device-0000-${++devices}`.padEnd(20, 'x'), name: '', hostName: `host${devices}` },
  ...{ labels: {}, refusals: {} },
  ...more,
});

export const connect = (more: Partial<Report> = {}, session: Partial<OpenedSession> = {}, by = credential) =>
  openSession(gateway, by, { agent: report(more), ...session });
export const disconnect = (session: string, reason = '') => gateway.registrar.sessionClosed(session, 0, reason);

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
export async function ask(query: string, variables: object = {}, of: Pick<Account, 'graphql'> = account): Promise<any> {
  const { body } = await of.graphql(query, variables);
  expect(body.errors).toBeUndefined();
  return body.data;
}

// biome-ignore lint/suspicious/noExplicitAny: likewise.
export async function list(fields: string, args = 'first: 10'): Promise<any[]> {
  return (await ask(`{ agents(${args}) { nodes { ${fields} } } }`)).agents.nodes;
}

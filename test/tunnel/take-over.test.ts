// An agent that asks for what another one of its credential serves: it gets it where that one gives no sign of life.

import { beforeAll, expect, test } from 'vitest';
import { newCredential, type TestCredential } from '../support/agents/live.ts';
import { codeOf, type RawAgentOptions, rawAgent } from '../support/agents/raw-agent.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  credential = await newCredential(account);
});

async function agentOf({ authtoken }: TestCredential = credential, options: RawAgentOptions = {}) {
  const agent = await rawAgent(gateway, options);
  expect((await agent.auth(authtoken)).Error).toBe('');
  return agent;
}

test('of a silent agent another one of its credential takes names and ports over with its first bind', async () => {
  const name = 'silent.tunnel.localhost';
  const silent = await agentOf(credential, { mute: true });
  expect((await silent.bind(name)).Error).toBe('');
  const { Opts } = await silent.bind('', { Proto: 'tcp', Opts: {} });
  const [next, stranger] = [await agentOf(), await agentOf(await newCredential(account))];
  expect(codeOf(await stranger.bind(name))).toBe(334);
  // Heartbeats would take 15 s to end the session, and refuse the bind until then.
  const bound = await next.bind(name);
  expect(bound.Error).toBe('');
  await silent.closed;
  const reason = 'no sign of life for 4000 ms, as another agent asked for its address';
  expect(await gateway.logged((line) => line.reason === reason)).toMatchObject({ accountId: account.accountId });
  expect(await visit(`http://${name}`, gateway.http)).toMatchObject({ status: 200, body: bound.Id });
  expect((await next.bind('', { Proto: 'tcp', Opts: { Addr: Opts.Addr } })).Error).toBe('');
});

test('an agent that answers keeps what it serves, and the other one is refused at once', async () => {
  const name = 'answering.tunnel.localhost';
  const first = await agentOf();
  const { Id } = await first.bind(name);
  const second = await agentOf();
  expect(codeOf(await second.bind(name))).toBe(334);
  expect(codeOf(await first.bind(name))).toBe(334);
  expect(await visit(`http://${name}`, gateway.http)).toMatchObject({ status: 200, body: Id });
});

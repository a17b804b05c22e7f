// A gateway with short heartbeats, and agents that send raw frames to it.

import { beforeAll, expect } from 'vitest';
import { ErrorCode, noopStreamEvents, openTypedStream } from '../../src/protocol/index.ts';
import { newCredential, type TestCredential } from '../support/agents/live.ts';
import { type RawAgent, type RawAgentOptions, type Reply, rawAgent } from '../support/agents/raw-agent.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

/** Short heartbeats: what a silent agent served must be gone after both. Milliseconds. */
export const INTERVAL = 300;
export const TOLERANCE = 1500;

/** An account of its own for the tests of the file that calls this. @param prefix of the names that agents bind. */
export function rawAgents(prefix: string) {
  let gateway: TestGateway;
  let account: Account;
  let credential: TestCredential;
  let names = 0;
  beforeAll(async () => {
    gateway = await sharedGateway({
      HEARTBEAT_INTERVAL_MS: String(INTERVAL),
      HEARTBEAT_TOLERANCE_MS: String(TOLERANCE),
    });
    account = await gateway.newAccount();
    credential = await newCredential(account);
  });

  const newName = () => `${prefix}-${++names}.tunnel.localhost`;
  const get = async (name: string) => (await visit(`http://${name}`, gateway.http)).status;

  /** An agent that was let in. */
  async function agentOf(
    { authtoken }: Pick<TestCredential, 'authtoken'> = credential,
    more?: Parameters<RawAgent['auth']>[1],
    options?: RawAgentOptions,
  ): Promise<RawAgent & { identity: Reply }> {
    const agent = await rawAgent(gateway, options);
    const identity = await agent.auth(authtoken, more);
    expect(identity.Error).toBe('');
    return Object.assign(agent, { identity });
  }

  async function isServing(agent: RawAgent): Promise<void> {
    const name = newName();
    const { Id, Error: error } = await agent.bind(name);
    expect(error).toBe('');
    expect(await visit(`http://${name}`, gateway.http)).toMatchObject({ status: 200, body: Id });
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
    get,
    agentOf,
    isServing,
  };
}

/** What an agent says to have its session back. */
export const back = ({ identity }: { identity: Reply }) => ({
  ClientId: identity.ClientId,
  Extra: { Cookie: identity.Extra.Cookie },
});

/** What it says to have a tunnel back. */
export const again = ({ Id, Extra }: Reply) => ({ Id, Extra: { Token: Extra.Token } });

/** What comes of a text on a stream of a type: the answer, or the code of a reset. */
export function say(agent: RawAgent, type: number, text: string): Promise<Reply | ErrorCode> {
  return new Promise((resolve) => {
    let got = '';
    const stream = openTypedStream(agent.mux, type, Buffer.from(text), {
      ...noopStreamEvents,
      onData: (chunk) => {
        got += chunk;
        stream.consumed(chunk.length);
      },
      onEnd: () => {
        stream.end();
        resolve(JSON.parse(got));
      },
      onReset: resolve,
    });
    if (stream.isClosed) resolve(ErrorCode.SESSION_CLOSED);
  });
}

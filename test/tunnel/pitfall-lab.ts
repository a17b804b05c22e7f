// A gateway with short heartbeats, for what breaks agents in the field.

import { connect } from 'node:net';
import { beforeAll, onTestFinished } from 'vitest';
import { newCredential, type TestCredential } from '../support/agents/live.ts';
import { startUpstream } from '../support/events/traffic.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

export const INTERVAL = 300;
export const TOLERANCE = 1500;
/** What the SDK tries again after, at the latest, before it sleeps for two minutes; milliseconds. */
export const RETRIES = { timeout: 6000 };

/** An account of its own for the tests of the file that calls this. @param prefix of the names that sessions bind. */
export function pitfallLab(prefix: string) {
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
  const get = (name: string) => visit(`http://${name}`, gateway.http);

  async function proxied(): Promise<FaultProxy> {
    const [host = '', port] = gateway.agent.split(':');
    const proxy = await startFaultProxy(host, Number(port));
    onTestFinished(() => proxy.close());
    return proxy;
  }

  const through = ({ port }: FaultProxy) => ({ agent: `127.0.0.1:${port}`, ca: gateway.ca });

  /** Ids of the account's sessions. */
  async function sessions(of: Pick<Account, 'call'> = account): Promise<string[]> {
    const { body } = await of.call('GET', '/tunnel_sessions');
    return body.tunnel_sessions.map(({ id }: { id: string }) => id);
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
    proxied,
    through,
    sessions,
  };
}

export const hello = () => startUpstream((_, response) => response.end('hello'));

/** Says something to a TCP endpoint. @returns what comes back until the end. */
export async function sayTo(port: number, text: string): Promise<string> {
  const visitor = connect(port, '127.0.0.1');
  visitor.end(text);
  let got = '';
  for await (const chunk of visitor.setEncoding('utf8')) got += chunk;
  return got;
}

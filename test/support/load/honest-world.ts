// What honest clients need: a gateway in a process of its own, three accounts, an origin, and an agent that stays.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listen } from '../../agent/client/peer.ts';
import { newClient, type TestClient } from '../../agent/client/support.ts';
import { startTestGateway } from '../gateway/gateway.ts';
import type { Place } from '../gateway/place.ts';
import type { GatewayProcess } from '../gateway/process.ts';
import { ANSWER, HONEST_NAME, type HonestWorld } from './honest-clients.ts';

const MB = 2 ** 20;

export interface Party {
  key: string;
  authtoken: string;
}

export interface World extends HonestWorld {
  /** As it was started first. */
  gateway: GatewayProcess;
  honest: Party;
  /** Another account, and a third. */
  tenant: Party;
  rival: Party;
  /** The honest agent, which is there all the time; it comes back by itself. */
  agent: TestClient;
  /** Ends all but the gateway. */
  close(): Promise<void>;
}

/** @param start starts the gateway, by this key of the honest account. */
export async function openWorld(place: Place, start: (key: string) => Promise<GatewayProcess>): Promise<World> {
  const parties = await makeParties(place);
  const gateway = await start(parties.honest.key);
  const ca = readFileSync(join(place.dataDir, 'ca.pem'), 'utf8');
  const origin = createServer((request, response) => {
    request.resume().once('end', () => response.end(ANSWER));
  });
  origin.keepAliveTimeout = 0; // Its own end of an idle connection is no failure of the gateway.
  const originPort = await listen(origin);
  const [host = '', port] = gateway.agent.split(':');
  const timing = { heartbeatInterval: 10_000, heartbeatTolerance: 15_000 };
  const agent = newClient({ host, port: Number(port), ca }, { authtoken: parties.honest.authtoken }, timing);
  for (const protocol of ['https', 'http'] as const)
    await agent.open({ protocol, domain: HONEST_NAME, forwardsTo: `127.0.0.1:${originPort}` }).answered;
  const { api, http, https } = gateway;
  return {
    gateway,
    ...parties,
    agent,
    originPort,
    target: { api, agent: gateway.agent, http, https, ca },
    async close() {
      await agent.client.close();
      origin.closeAllConnections();
      origin.close();
    },
  };
}

/** Makes the accounts before the gateway starts as a process: accounts have no API. */
async function makeParties(place: Place): Promise<Record<'honest' | 'tenant' | 'rival', Party>> {
  const gateway = await startTestGateway({}, { place });
  try {
    const partyOf = async () => {
      const { key, call } = await gateway.newAccount();
      const { body } = await call('POST', '/credentials', {});
      return { key, authtoken: body.token as string };
    };
    return { honest: await partyOf(), tenant: await partyOf(), rival: await partyOf() };
  } finally {
    await gateway.close();
  }
}

/** Resident memory of a process now, in MB. */
export function residentMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024) / MB;
}

// A gateway in a process of its own with two accounts: one whose clients are honest, and one of an attacker.

import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { listen } from '../../agent/client-peer.ts';
import { newClient, type TestClient } from '../../agent/client-support.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { newPlace } from '../../support/place.ts';
import { type GatewayProcess, startProcess } from '../../support/process.ts';
import type { Target } from './attack.ts';

const MB = 2 ** 20;
/** The honest endpoint's name, below the base domain. */
export const HONEST_NAME = 'honest.tunnel.localhost';
export const ANSWER = 'an honest answer\n';

export interface Party {
  key: string;
  authtoken: string;
}

export interface Lab {
  gateway: GatewayProcess;
  target: Target;
  honest: Party;
  /** The honest agent, which is there all the time, and the origin behind it. */
  agent: TestClient;
  originPort: number;
  /** Resident memory of the gateway now, in MB. */
  memory(): number;
  close(): Promise<void>;
}

export async function openLab(env: Record<string, string> = {}): Promise<Lab> {
  const place = await newPlace();
  const parties = await makeParties(place);
  const gateway = await startProcess({ LOG_LEVEL: 'warn', ...env }, place, parties.honest.key);
  const ca = readFileSync(join(place.dataDir, 'ca.pem'), 'utf8');
  const origin: Server = createServer((request, response) => {
    request.resume().once('end', () => response.end(ANSWER));
  });
  origin.keepAliveTimeout = 0; // Its own end of an idle connection is no failure of the gateway.
  const originPort = await listen(origin);
  const [host = '', port] = gateway.agent.split(':');
  const timing = { heartbeatInterval: 10_000, heartbeatTolerance: 15_000 };
  const agent = newClient({ host, port: Number(port), ca }, { authtoken: parties.honest.authtoken }, timing);
  await agent.open({ protocol: 'https', domain: HONEST_NAME, forwardsTo: `127.0.0.1:${originPort}` }).answered;
  const plain = agent.open({ protocol: 'http', domain: HONEST_NAME, forwardsTo: `127.0.0.1:${originPort}` });
  await plain.answered;
  return {
    gateway,
    honest: parties.honest,
    agent,
    originPort,
    target: {
      api: gateway.api,
      agent: gateway.agent,
      http: gateway.http,
      https: gateway.https,
      ca,
      pid: gateway.pid,
      tenant: parties.tenant,
      baseDomain: 'tunnel.localhost',
    },
    memory: () => residentMemory(gateway.pid),
    async close() {
      await agent.client.close();
      await gateway.kill('SIGTERM');
      origin.closeAllConnections();
      origin.close();
      await place.remove();
    },
  };
}

/** Makes the accounts before the gateway starts as a process: accounts have no API. */
async function makeParties(place: Awaited<ReturnType<typeof newPlace>>): Promise<{ honest: Party; tenant: Party }> {
  const gateway = await startTestGateway({}, { place });
  try {
    const partyOf = async () => {
      const { key, call } = await gateway.newAccount();
      const { body } = await call('POST', '/credentials', {});
      return { key, authtoken: body.token as string };
    };
    return { honest: await partyOf(), tenant: await partyOf() };
  } finally {
    await gateway.close();
  }
}

function residentMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024) / MB;
}

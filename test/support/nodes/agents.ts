// Agents of several gateways: our own and the SDK's, which stay, and some that come and go. Each tunnel's service answers with the
// name of the tunnel, so that an answer of another one is noticed.

import { createServer, type Server } from 'node:http';
import { DEFAULT_TIMING } from '../../../agent/src/client/timing.ts';
import { listen } from '../../agent/client/peer.ts';
import { newClient, type TestClient } from '../../agent/client/support.ts';
import { httpName, openSdkSession } from '../agents/sdk.ts';
import type { Fleet } from './fleet.ts';

/** The metadata of the sessions of agents that stay. */
export const STAYS = 'stays';
const OWN = 4;
const WITH_TWO_LEGS = 2;
const LEGS = 2;
const OF_THE_SDK = 2;
const WANDERERS = 2;
/** What the names of tunnels begin with whose agents have sessions at two nodes. */
export const TWO_LEGS = 'legs-';
/** How long a tunnel of a wanderer is open; milliseconds. */
const OPEN_MS = 400;
/**
 * The ends of connections come at once; the agent's own pause before it comes again is up to half a second. A lost leg is back
 * before the next round.
 */
const TIMING = { ...DEFAULT_TIMING, legRetry: 1000 };

export interface Agents {
  /** The names of tunnels that stay. */
  readonly staying: readonly string[];
  /** The names of those that come and go, as far as they are open now. */
  readonly wandering: ReadonlySet<string>;
  /** How many tunnels have come and gone. */
  readonly wandered: number;
  /** Resolves when every agent that has two legs is connected with both. */
  bothLegs(): Promise<void>;
  close(): Promise<void>;
}

export async function startAgents(fleet: Fleet): Promise<Agents> {
  const staying: string[] = [];
  const closes: (() => unknown)[] = [];
  const stay = async (name: string, { client, open }: TestClient) => {
    const service = await serviceOf(name);
    closes.push(() => client.close(), service.close);
    await open({ domain: name, forwardsTo: `127.0.0.1:${service.port}` }).answered;
    staying.push(name);
  };
  for (let i = 0; i < OWN; i++) await stay(`own-${i}.tunnel.localhost`, ownAgent(fleet, STAYS));
  const withLegs = Array.from({ length: WITH_TWO_LEGS }, () => agentWithLegs(fleet));
  for (const [i, agent] of withLegs.entries()) await stay(`${TWO_LEGS}${i}.tunnel.localhost`, agent);
  for (let i = 0; i < OF_THE_SDK; i++) {
    const name = `sdk-${i}.tunnel.localhost`;
    const service = await serviceOf(name);
    const target = { agent: `${fleet.front.host}:${fleet.front.port}`, ca: fleet.ca };
    const sdk = await openSdkSession(target, fleet.authtoken, (builder) => builder.metadata(STAYS));
    closes.push(() => sdk.close(), service.close);
    await httpName(sdk.session, name).listenAndForward(`http://127.0.0.1:${service.port}`);
    staying.push(name);
  }
  const wandering = new Set<string>();
  let wandered = 0;
  let isOver = false;
  const wander = async (who: number) => {
    const { client, open } = ownAgent(fleet, 'wanders');
    for (let turn = 0; !isOver; turn++) {
      const name = `wanderer-${who}-${turn}.tunnel.localhost`;
      const service = await serviceOf(name);
      const handle = open({ domain: name, forwardsTo: `127.0.0.1:${service.port}` });
      const isOpen = await handle.answered.then(
        () => true,
        () => false,
      );
      if (isOpen) wandering.add(name);
      await new Promise((resolve) => setTimeout(resolve, OPEN_MS));
      wandering.delete(name);
      await handle.close();
      service.close();
      wandered++;
    }
    await client.close();
  };
  const wanderers = Array.from({ length: WANDERERS }, (_, who) => wander(who));
  return {
    staying,
    wandering,
    get wandered() {
      return wandered;
    },
    async bothLegs() {
      await Promise.all(
        withLegs.map(({ client, until }) =>
          until(() => client.status.legs.filter(({ state }) => state === 'online').length === LEGS),
        ),
      );
    },
    async close() {
      isOver = true;
      await Promise.all(wanderers);
      for (const close of closes) await close();
    },
  };
}

function ownAgent({ front: { host, port }, ca, authtoken }: Fleet, metadata: string): TestClient {
  return newClient({ host, port, ca }, { authtoken, metadata }, TIMING);
}

/** Connects to the nodes themselves: whatever stands in front of them may lead both sessions to one node. */
function agentWithLegs({ nodes, ca, authtoken }: Fleet): TestClient {
  const gateways = nodes.map((node) => {
    const [host = '', port] = node.agent().split(':');
    return { host, port: Number(port) };
  });
  const [first] = gateways as [(typeof gateways)[number]];
  const addresses = async (host: string) => [host];
  return newClient({ ...first, ca }, { authtoken, metadata: STAYS, gateways, addresses, legs: LEGS }, TIMING);
}

/** A service that answers with a name. */
async function serviceOf(name: string): Promise<{ port: number; close(): void }> {
  const server: Server = createServer((request, response) => {
    request.resume();
    response.end(name);
  });
  server.keepAliveTimeout = 0; // Its own end of an idle connection is no failure of the gateway.
  const port = await listen(server);
  return {
    port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

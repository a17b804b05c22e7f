// Agents of several gateways: our own and the SDK's, which stay, and some that come and go. Each tunnel's service answers with the
// name of the tunnel, so that an answer of another one is noticed.

import { createServer, type Server } from 'node:http';
import { DEFAULT_TIMING } from '../../../agent/src/client/timing.ts';
import { listen } from '../../agent/client/peer.ts';
import { newClient } from '../../agent/client/support.ts';
import { httpName, openSdkSession } from '../agents/sdk.ts';
import type { Fleet } from './fleet.ts';

/** The metadata of the sessions of agents that stay. */
export const STAYS = 'stays';
const OWN = 4;
const OF_THE_SDK = 2;
const WANDERERS = 2;
/** How long a tunnel of a wanderer is open; milliseconds. */
const OPEN_MS = 400;
/** The ends of connections come at once; the agent's own pause before it comes again is up to half a second. */
const TIMING = DEFAULT_TIMING;

export interface Agents {
  /** The names of tunnels that stay. */
  readonly staying: readonly string[];
  /** The names of those that come and go, as far as they are open now. */
  readonly wandering: ReadonlySet<string>;
  /** How many tunnels have come and gone. */
  readonly wandered: number;
  close(): Promise<void>;
}

export async function startAgents(fleet: Fleet): Promise<Agents> {
  const staying: string[] = [];
  const closes: (() => unknown)[] = [];
  for (let i = 0; i < OWN; i++) {
    const name = `own-${i}.tunnel.localhost`;
    const service = await serviceOf(name);
    const { client, open } = ownAgent(fleet, STAYS);
    closes.push(() => client.close(), service.close);
    await open({ domain: name, forwardsTo: `127.0.0.1:${service.port}` }).answered;
    staying.push(name);
  }
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
    async close() {
      isOver = true;
      await Promise.all(wanderers);
      for (const close of closes) await close();
    },
  };
}

function ownAgent({ front: { host, port }, ca, authtoken }: Fleet, metadata: string) {
  return newClient({ host, port, ca }, { authtoken, metadata }, TIMING);
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

// A gateway on fixed ports, with a line to its database that can be broken, and honest clients beside it.

import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';
import { type GatewayProcess, portsOf, startProcess } from '../../support/gateway/process.ts';
import { HonestClients } from '../../support/load/honest-clients.ts';
import { openWorld, type World } from '../../support/load/honest-world.ts';
import { Outcomes } from './outcomes.ts';

/** A client gives up after so long; milliseconds. */
const PATIENCE_MS = 10_000;
/** For so long nobody may fail before all is well; milliseconds. */
const SETTLED_MS = 3000;
const LOOK_MS = 50;

export interface Day {
  place: Place;
  world: World;
  clients: HonestClients<Outcomes>;
  /** In front of the PostgreSQL server; undefined with the embedded database. */
  proxy: FaultProxy | undefined;
  /** The process that runs now. */
  gateway(): GatewayProcess;
  /** Starts the gateway anew on the same ports and data. The one before has ended. @param logTo an open file for its log. */
  restart(logTo?: number): Promise<void>;
  /** The line to the database is as it should be: connections that were in a black hole are reset. */
  heal(): Promise<void>;
  /**
   * Waits until nobody fails any more.
   * @param from when the fault was over; @param withinMs how long it may take at most.
   * @returns milliseconds by kind of work: from then until it succeeded again.
   */
  recovered(from: number, withinMs: number): Promise<Map<string, number>>;
  close(): Promise<void>;
}

export async function openDay(env: Record<string, string>): Promise<Day> {
  const place = await newPlace();
  const proxy = await proxyOf(place);
  const database = proxy && urlThrough(place, proxy);
  const settings: Record<string, string> = { LOG_LEVEL: 'info', ...(database && { DATABASE_URL: database }), ...env };
  let key = '';
  const world = await openWorld(place, (made) => {
    key = made;
    return startProcess(settings, place, key);
  });
  let gateway = world.gateway;
  const ports = portsOf(gateway);
  const clients = new HonestClients(() => new Outcomes(), PATIENCE_MS);
  clients.start(world);
  return {
    place,
    world,
    clients,
    proxy,
    gateway: () => gateway,
    async restart(logTo) {
      gateway = await startProcess({ ...settings, ...ports }, place, key, logTo);
    },
    async heal() {
      await proxy?.reset();
      await proxy?.heal();
    },
    async recovered(from, withinMs) {
      const kinds = () => [...clients.samples].map(([kind, outcomes]) => [kind, outcomes.recovery(from)] as const);
      for (;;) {
        const last = Math.max(...[...clients.samples.values()].map((outcomes) => outcomes.lastFailure()), from);
        const missing = kinds().filter(([, after]) => after === undefined);
        if (missing.length === 0 && performance.now() - last > SETTLED_MS) break;
        if (performance.now() - from > withinMs + SETTLED_MS) {
          const failing = [...clients.samples].map(([kind, outcomes]) => [kind, outcomes.since(from).at(-1)?.failure]);
          throw new Error(`not well again after ${withinMs} ms: ${JSON.stringify(failing)}`);
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
      return new Map(kinds().map(([kind, after]) => [kind, after ?? Number.NaN]));
    },
    async close() {
      await clients.stop();
      await world.close();
      await gateway.kill('SIGTERM');
      await proxy?.close();
      await place.remove();
    },
  };
}

async function proxyOf(place: Place): Promise<FaultProxy | undefined> {
  if (!place.env.DATABASE_URL) return undefined;
  const url = new URL(place.env.DATABASE_URL);
  return startFaultProxy(url.hostname, Number(url.port || 5432));
}

function urlThrough(place: Place, proxy: FaultProxy): string {
  const url = new URL(place.env.DATABASE_URL ?? '');
  url.host = `127.0.0.1:${proxy.port}`;
  return url.href;
}

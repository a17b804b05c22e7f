// Three gateways as processes on one database, each on an address of its own, with what can break between them: the links of each,
// and the line to the database.

import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestBus, throughPort } from '../buses.ts';
import { type FaultProxy, startFaultProxy } from '../faults/fault-proxy.ts';
import { newPlace, type Place } from '../gateway/place.ts';
import { type GatewayProcess, portsOf, startProcess } from '../gateway/process.ts';
import { type Front, type FrontNode, startFront } from './front.ts';

const NODES = 3;
const KEY = 'key-of-the-tests-of-nodes';
/** A lease that ends several times while the database is away; milliseconds. */
export const LEASE_MS = 2000;

export interface FleetNode extends FrontNode {
  name: string;
  /** The process that runs now, or ran last. */
  process(): GatewayProcess;
  /** In front of its listener for other nodes. */
  links: FaultProxy;
  /** Starts it again on the same ports, after it has ended. */
  restart(): Promise<void>;
}

export interface Fleet {
  nodes: readonly FleetNode[];
  front: Front<FleetNode>;
  /** In front of the database. */
  database: FaultProxy;
  /** In front of the bus, where there is one beside the database. */
  bus: FaultProxy | undefined;
  /** What visitors and agents trust. */
  ca: string;
  authtoken: string;
  /** The node that has the most sessions of agents, by its own metrics. */
  busiest(): Promise<FleetNode>;
  /** The ids of the sessions of agents with this metadata. */
  sessionsOf(metadata: string): Promise<string[]>;
  close(): Promise<void>;
}

export interface FleetOptions {
  /** The bus that the gateways are to use; PostgreSQL without one. */
  through?: TestBus | undefined;
  /** Where they keep their data, if not in a place of their own. It is removed with them. */
  place?: Place;
  /** Further settings of all gateways. */
  env?: Record<string, string>;
}

/** Starts the gateways, and makes a credential. */
export async function startFleet({ through, place: given, env }: FleetOptions = {}): Promise<Fleet> {
  const place = given ?? (await newPlace());
  const direct = new URL(place.env.DATABASE_URL ?? '');
  const database = await startFaultProxy(direct.hostname, Number(direct.port || 5432));
  const bus = through && (await startFaultProxy(new URL(through.url).hostname, Number(new URL(through.url).port)));
  const shared: Record<string, string> = {
    DATABASE_URL: throughPort(direct.href, database.port),
    ...(through && bus ? { BUS_URL: throughPort(through.url, bus.port) } : {}),
    SERVER_KEY: randomBytes(32).toString('base64'),
    INITIAL_API_KEY: KEY,
    NODE_LEASE_MS: String(LEASE_MS),
    LOG_LEVEL: 'warn',
    DRAIN_MS: '5000',
    ...env,
  };
  const nodes: FleetNode[] = [];
  const closeNodes = async () => {
    await Promise.all(nodes.map((node) => node.process().kill('SIGTERM')));
    await Promise.all([...nodes.map(({ links }) => links.close()), database.close(), bus?.close()]);
    await place.remove();
  };
  try {
    for (let index = 0; index < NODES; index++) nodes.push(await startNode(place, index, shared));
    const front = await startFront(nodes);
    const [first] = nodes as [FleetNode];
    const { body } = await first.process().call('POST', '/credentials', {});
    return {
      nodes,
      front,
      database,
      bus,
      ca: readFileSync(join(place.dataDir, 'node1/ca.pem'), 'utf8'),
      authtoken: body.token,
      async busiest() {
        const counts = await Promise.all(nodes.map(sessionsAt));
        return nodes[counts.indexOf(Math.max(...counts))] as FleetNode;
      },
      async sessionsOf(metadata) {
        const answer = await front.pick().process().call('GET', '/tunnel_sessions?limit=100');
        if (answer.status !== 200) throw new Error(answer.text);
        const rows = answer.body.tunnel_sessions as { id: string; metadata: string }[];
        return rows.filter((row) => row.metadata === metadata).map(({ id }) => id);
      },
      async close() {
        front.close();
        await closeNodes();
      },
    };
  } catch (error) {
    await closeNodes();
    throw error;
  }
}

async function sessionsAt(node: FleetNode): Promise<number> {
  const metrics = await (await fetch(`${node.admin()}/metrics`)).text();
  return Number(/^tunnel_sessions (\d+)/m.exec(metrics)?.[1]);
}

async function startNode(place: Place, index: number, shared: Record<string, string>): Promise<FleetNode> {
  const name = `node${index + 1}`;
  const dataDir = join(place.dataDir, name);
  mkdirSync(dataDir, { mode: 0o700 });
  if (index > 0)
    for (const file of ['ca.pem', 'ca.key']) copyFileSync(join(place.dataDir, 'node1', file), join(dataDir, file));
  const host = `127.0.1.${index + 1}`;
  // The others reach it by the proxy alone: that is what it tells them.
  const links = await startFaultProxy(host, 0);
  const link = { NODE_ADDR: '127.0.0.1', NODE_HOST: host, NODE_PORT: String(links.port) };
  const env = { ...shared, ...link, DATA_DIR: dataDir, HOST: host, ALLOWED_HOSTS: host };
  let gateway = await startProcess(env, place);
  const settings = { ...env, ...portsOf(gateway) };
  return {
    name,
    links,
    process: () => gateway,
    admin: () => gateway.admin,
    agent: () => gateway.agent,
    async restart() {
      gateway = await startProcess(settings, place, KEY);
    },
  };
}

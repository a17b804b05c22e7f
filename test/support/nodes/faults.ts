// What can happen to several gateways. Each fault lasts, and is over.

import { setTimeout as wait } from 'node:timers/promises';
import { type Fleet, type FleetNode, LEASE_MS } from './fleet.ts';

/** How long an outage lasts, in milliseconds: that of the database, four leases where nothing else is asked for. */
const OUTAGE_MS = 3000;
const DATABASE_AWAY_MS = Number(process.env.NODES_AWAY_MS || 4 * LEASE_MS);

export interface Fault {
  /**
   * Whether sessions may end: those of agents at the node.
   * Otherwise none may, and whatever fails fails only while the fault lasts.
   */
  endsSessions: boolean;
  /** Within how long after the fault has begun (`begin`), or is over (`end`), the last visit fails at most; milliseconds. */
  settles: { after: 'begin' | 'end'; ms: number };
  /**
   * Within how long after it has begun the last visit at another node fails at most whose agent has sessions at two nodes;
   * milliseconds.
   */
  legsSettleMs?: number;
  /** Whether it happens to a bus beside the database. */
  needsBus?: true;
  /** @param node that it happens to, where it happens to one. Resolves when it is over. */
  happen(fleet: Fleet, node: FleetNode): Promise<void>;
  /** What brings the fleet back to what it was, once it was seen how it goes on without. */
  mend?(fleet: Fleet, node: FleetNode): Promise<void>;
}

export const faults: Record<string, Fault> = {
  'kill -9 of a node': {
    endsSessions: true,
    settles: { after: 'begin', ms: 5000 },
    legsSettleMs: 100,
    async happen(_, node) {
      await node.process().kill('SIGKILL');
    },
    mend: (_, node) => node.restart(),
  },
  'a frozen node': {
    endsSessions: true,
    settles: { after: 'begin', ms: 5000 },
    legsSettleMs: 1000,
    async happen(_, node) {
      process.kill(node.process().pid, 'SIGSTOP');
      await wait(OUTAGE_MS);
      process.kill(node.process().pid, 'SIGCONT');
    },
  },
  'links that are cut': {
    endsSessions: false,
    settles: { after: 'end', ms: 1000 },
    async happen({ nodes }) {
      await Promise.all(nodes.map(({ links }) => links.cut()));
    },
  },
  'links in a black hole': {
    endsSessions: false,
    settles: { after: 'end', ms: 3000 },
    async happen({ nodes }) {
      for (const { links } of nodes) links.shape({ outage: 'black hole' });
      await wait(OUTAGE_MS);
      for (const { links } of nodes) {
        await links.cut();
        await links.heal();
      }
    },
  },
  'the database away': {
    endsSessions: false,
    settles: { after: 'begin', ms: 0 },
    async happen({ database }) {
      database.refuse();
      await database.cut();
      await wait(DATABASE_AWAY_MS);
      await database.heal();
    },
  },
  'the bus away': {
    endsSessions: false,
    settles: { after: 'begin', ms: 0 },
    needsBus: true,
    async happen({ bus }) {
      bus?.refuse();
      await bus?.cut();
      await wait(OUTAGE_MS);
      await bus?.heal();
    },
  },
  'a restart': {
    endsSessions: true,
    settles: { after: 'begin', ms: 10_000 },
    async happen(_, node) {
      await node.process().kill('SIGTERM');
    },
    mend: (_, node) => node.restart(),
  },
};

// Rounds of faults among several gateways, beside agents and visitors.

import type { TestBus } from '../buses.ts';
import { type Agents, STAYS, startAgents, TWO_LEGS } from './agents.ts';
import type { Fault } from './faults.ts';
import { faults } from './faults.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type Failure, Visitors, type VisitorsLoad } from './visitors.ts';

/** For so long nobody may fail before all is well, and how long that may take; milliseconds. */
const SETTLED_MS = 1500;
const SETTLES_MS = 40_000;
const LOOK_MS = 50;

export interface RoundsOptions {
  /** The bus that the gateways are to use; PostgreSQL without one. */
  bus?: TestBus | undefined;
  visitors: VisitorsLoad;
  /** Whether a round ends with what brings the fleet back to what it was: another one follows. */
  mends?: boolean;
}

export interface Round {
  fault: Fault;
  /** To which it happened. */
  node: string;
  requests: number;
  failed: number;
  failures: Failure[];
  misrouted: Failure[];
  /** From the begin and from the end of the fault to the last failure; 0 when nothing failed after it. Milliseconds. */
  lastFailureMs: { begin: number; end: number };
  /** From the begin to the last failure of an agent with two legs, of a visitor at another node; 0 without one. Milliseconds. */
  lastLegsFailureMs: number;
  /** Of agents that stay. */
  sessionsEnded: number;
}

export interface Rounds {
  fleet: Fleet;
  agents: Agents;
  /** Lets a fault happen: where it happens to one node, to the one that has the most agents. */
  run(name: string): Promise<Round>;
  close(): Promise<void>;
}

export async function startRounds({ bus, visitors: load, mends = true }: RoundsOptions): Promise<Rounds> {
  const fleet = await startFleet({ through: bus });
  const agents = await startAgents(fleet).catch(async (error) => {
    await fleet.close();
    throw error;
  });
  const visitors = new Visitors(fleet, agents, load);

  /** Waits until nobody has failed for a while. */
  const settled = async (from: number) => {
    for (;;) {
      const now = performance.now();
      if (now - Math.max(visitors.lastFailedAt, from) > SETTLED_MS) return;
      if (now - from > SETTLES_MS) {
        const last = visitors.failures.slice(-5).map(({ name, node, why }) => `${name} at ${node}: ${why}`);
        throw new Error(`visits still fail after ${SETTLES_MS} ms: ${last.join(', ')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };

  return {
    fleet,
    agents,
    async run(name) {
      const fault = faults[name];
      if (!fault) throw new Error(`there is no fault "${name}"`);
      await agents.bothLegs();
      await settled(performance.now());
      const node = await fleet.busiest();
      const before = new Set(await fleet.sessionsOf(STAYS));
      const { requests, failed } = visitors;
      visitors.failures = [];
      visitors.misrouted = [];
      visitors.lastFailedAt = Number.NEGATIVE_INFINITY;
      const begin = performance.now();
      await fault.happen(fleet, node);
      const end = performance.now();
      await settled(end);
      const ofLegs = visitors.failures.filter((one) => one.node !== node.name && one.name.startsWith(TWO_LEGS));
      const after = new Set(await fleet.sessionsOf(STAYS));
      const round = {
        fault,
        node: node.name,
        requests: visitors.requests - requests,
        failed: visitors.failed - failed,
        failures: [...visitors.failures],
        misrouted: [...visitors.misrouted],
        lastFailureMs: {
          begin: Math.max(0, Math.round(visitors.lastFailedAt - begin)),
          end: Math.max(0, Math.round(visitors.lastFailedAt - end)),
        },
        lastLegsFailureMs: Math.round(Math.max(0, ...ofLegs.map(({ at }) => at - begin))),
        sessionsEnded: [...before].filter((id) => !after.has(id)).length,
      };
      if (!mends) return round;
      await fault.mend?.(fleet, node);
      await fleet.front.allReady();
      return round;
    },
    async close() {
      await visitors.close();
      await agents.close();
      await fleet.close();
    },
  };
}

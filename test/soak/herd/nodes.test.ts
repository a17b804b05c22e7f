// Thousands of agents (HERD_AGENTS, 3,000) whose node is killed: they come back to the two that are left. Part of
// `npm run soak -- herd`.

import { loadavg } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Manners } from '../../support/agents/herd-agent.ts';
import { onServer } from '../../support/gateway/place.ts';
import { type Fleet, startFleet } from '../../support/nodes/fleet.ts';
import { type Herd, startHerd } from './herd.ts';

const AGENTS = Number(process.env.HERD_AGENTS || 3000);
const MANNERS = (process.env.HERD_MANNERS || 'impolite') as Manners;
/** All are to be back within so long of a kill -9; milliseconds. */
const BACK_MS = 15_000;
const PATIENCE_MS = 120_000;
const LOOK_MS = 50;

describe.runIf(onServer)(`${AGENTS} ${MANNERS} agents of one of three nodes`, () => {
  let fleet: Fleet;
  let herd: Herd;
  beforeAll(async () => {
    // The lease that gateways have when nothing is set.
    fleet = await startFleet({ env: { NODE_LEASE_MS: '5000' } });
  }, PATIENCE_MS);
  afterAll(async () => {
    await herd?.stop();
    await fleet?.close();
  }, PATIENCE_MS);

  const online = async (isSo: (count: number) => boolean, from: number) => {
    for (;;) {
      const { online: count } = herd.standing();
      const took = performance.now() - from;
      if (isSo(count)) return took;
      if (took > PATIENCE_MS) throw new Error(`${count} of ${AGENTS} are online after ${took} ms`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  };

  test('they are back at the others', { timeout: 3 * PATIENCE_MS }, async () => {
    const [node] = fleet.nodes as [Fleet['nodes'][number]];
    const { host, port } = fleet.front;
    fleet.front.leadAgentsTo(node);
    const begun = performance.now();
    herd = await startHerd(AGENTS, MANNERS, { host, port, ca: fleet.ca, authtoken: fleet.authtoken });
    const cameIn = await online((count) => count === AGENTS, begun);
    fleet.front.leadAgentsTo(undefined);
    const killed = performance.now();
    await node.process().kill('SIGKILL');
    await online((count) => count < AGENTS / 2, killed);
    const took = await online((count) => count === AGENTS, killed);
    const { failed, lost } = herd.standing();
    process.stdout.write(
      `${AGENTS} ${MANNERS} agents came in within ${seconds(cameIn)}; their node was killed, and all were back within ${seconds(took)}; load ${loadavg()[0]?.toFixed(1)}\n  attempts that failed: ${JSON.stringify(failed)}\n  sessions lost: ${JSON.stringify(lost)}\n`,
    );
    expect(took).toBeLessThan(BACK_MS);
  });
});

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

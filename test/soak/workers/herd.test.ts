// `npm run soak -- workers`: HERD_AGENTS (10,000) idle agents at two workers, of which one is killed. HERD_MANNERS as for the herd.

import { loadavg } from 'node:os';
import { expect, test } from 'vitest';
import type { Manners } from '../../support/agents/herd-agent.ts';
import { onServer } from '../../support/gateway/place.ts';
import { startProcessGroup } from '../../workers/support.ts';
import { startHerd } from '../herd/herd.ts';
import { say } from './load.ts';

const AGENTS = Number(process.env.HERD_AGENTS || 10_000);
const MANNERS = (process.env.HERD_MANNERS || 'sdk') as Manners;
/** All are to be back within so long of a kill -9; milliseconds. */
const BACK_MS = 30_000;
const PATIENCE_MS = 180_000;
const LOOK_MS = 50;

test.skipIf(onServer)(
  `${AGENTS} ${MANNERS} agents are back after their worker is killed`,
  { timeout: 3 * PATIENCE_MS },
  async () => {
    const group = await startProcessGroup({
      MAX_AGENTS: '40000',
      MAX_SESSIONS_PER_ACCOUNT: '20000',
      LOG_LEVEL: 'warn',
    });
    const [host = '', port] = group.gateway.agent.split(':');
    const authtoken = group.gateway.authtoken ?? '';
    const begun = performance.now();
    const herd = await startHerd(AGENTS, MANNERS, { host, port: Number(port), ca: group.ca, authtoken });
    const online = async (isSo: (count: number) => boolean, from: number) => {
      for (;;) {
        const { online: count, failed } = herd.standing();
        const took = performance.now() - from;
        if (isSo(count)) return took;
        if (took > PATIENCE_MS) throw new Error(`${count} of ${AGENTS} are online: ${JSON.stringify(failed)}`);
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    };
    try {
      const cameIn = await online((count) => count === AGENTS, begun);
      const before = herd.standing().lost;
      const killed = performance.now();
      group.kill(0, 'SIGKILL');
      await online((count) => count < AGENTS, killed);
      const took = await online((count) => count === AGENTS, killed);
      const { lost } = herd.standing();
      const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0);
      say(
        `${AGENTS} ${MANNERS} agents came in within ${seconds(cameIn)}; a worker with ${sum(lost) - sum(before)} of them was killed, and ` +
          `all were back within ${seconds(took)}; load ${loadavg()[0]?.toFixed(1)}`,
      );
      expect(took).toBeLessThan(BACK_MS);
    } finally {
      await herd.stop();
      await group.close();
    }
  },
);

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

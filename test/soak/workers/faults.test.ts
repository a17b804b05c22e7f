// `npm run soak -- workers`: what visitors notice while the control process or a worker is away.

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { DEFAULT_TIMING } from '../../../agent/src/client/timing.ts';
import type { TestClient } from '../../agent/client/support.ts';
import { serve, service } from '../../cluster/support.ts';
import { onServer } from '../../support/gateway/place.ts';
import { type Visit, visit } from '../../support/visit.ts';
import { CONTROL, type ProcessGroup, startProcessGroup, WORKERS } from '../../workers/support.ts';
import { startVisitors } from '../../workers/visitors.ts';
import { median, say } from './load.ts';

const CONTROL_ROUNDS = Number(process.env.WORKERS_CONTROL_ROUNDS || 5);
const KILL_ROUNDS = Number(process.env.WORKERS_KILL_ROUNDS || 10);
const VISITORS = 32;
const BUSY_MS = 2000;
/** Visitors of each phase, so that there are some before and after it. */
const VISITS = 300;
/** Until all agents of a worker that was killed are served again: the median of the rounds. */
const BACK_MS = 1000;
const AGENTS = 4;
const LONG = { timeout: 300_000 };

describe.skipIf(onServer || process.platform !== 'linux')('processes that are away', () => {
  let group: ProcessGroup;
  beforeAll(async () => {
    group = await startProcessGroup();
  }, 120_000);
  afterAll(() => group?.close(), 60_000);

  /** A tunnel whose service answers with its name. */
  async function open(worker: number, name: string): Promise<TestClient> {
    const agent = await group.agentAt(worker, { timing: DEFAULT_TIMING });
    await serve(agent, await service((_, response) => void response.end(name)), { domain: name });
    return agent;
  }

  test('a control process that is busy, is killed and starts again fails no visit', LONG, async () => {
    const names: Record<string, string> = {};
    for (const worker of WORKERS) {
      const name = `known-${worker}.tunnel.localhost`;
      await open(worker, name);
      names[name] = name;
    }
    // Both workers know both.
    for (const worker of WORKERS) {
      const agent = await group.connectionAt(worker);
      for (const name of Object.keys(names)) await visit(`http://${name}/`, group.gateway.http, { agent });
    }
    const visitors = startVisitors(group.gateway.http, names, VISITORS);
    onTestFinished(() => visitors.stop());
    const restarts: number[] = [];
    for (let round = 0; round < CONTROL_ROUNDS; round++) {
      const busy = group.kill(CONTROL, 'SIGSTOP');
      await Promise.all([visitors.more(VISITS), new Promise((resolve) => setTimeout(resolve, BUSY_MS))]);
      process.kill(busy, 'SIGCONT');
      await visitors.more(VISITS);
      group.kill(CONTROL, 'SIGKILL');
      const began = performance.now();
      await group.settled();
      restarts.push(performance.now() - began);
      await visitors.more(VISITS);
    }
    await visitors.stop();
    const times = `median ${median(restarts).toFixed(0)} ms, most ${Math.max(...restarts).toFixed(0)} ms`;
    say(`control process, ${CONTROL_ROUNDS} rounds: ${visitors.answered} visits, ${visitors.failures.length} failed`);
    say(`  the API was back ${times} after kill -9`);
    expect(visitors.failures).toEqual([]);
  });

  test('a worker that is killed fails visits at it alone, and its agents are back soon', LONG, async () => {
    const staying = 'staying.tunnel.localhost';
    await open(0, staying);
    const lost: string[] = Array.from({ length: AGENTS }, (_, index) => `lost-${index}.tunnel.localhost`);
    const agents: TestClient[] = [];
    for (const name of lost) agents.push(await open(1, name));
    const { http } = group.gateway;
    const kept = await group.connectionAt(0);
    const ask = (name: string): Promise<Visit | undefined> =>
      visit(`http://${name}/`, http, { agent: kept }).catch(() => undefined);
    const visitors = startVisitors(http, { [staying]: staying }, VISITORS);
    onTestFinished(() => visitors.stop());
    const times: number[] = [];
    for (let round = 0; round < KILL_ROUNDS; round++) {
      const failed = visitors.failures.length;
      group.kill(1, 'SIGKILL');
      const began = performance.now();
      for (const name of lost) await expect.poll(async () => (await ask(name))?.body, { interval: 10 }).toBe(name);
      times.push(performance.now() - began);
      await visitors.more(VISITS);
      // Of the visitors who come anew, those fail whose connection the worker had: each has one.
      const failures = visitors.failures.slice(failed);
      expect(failures.length).toBeLessThanOrEqual(VISITORS);
      for (const { why } of failures) expect(why).toMatch(/ECONNRESET|socket hang up/);
      await group.settled();
      for (const [index, agent] of agents.entries())
        if (group.workerOf(agent) !== 1) {
          await agent.client.close();
          agents[index] = await open(1, lost[index] as string);
        }
    }
    await visitors.stop();
    say(
      `worker, ${KILL_ROUNDS} rounds: ${visitors.answered} visits of others, ${visitors.failures.length} failed at it`,
    );
    say(
      `  its ${AGENTS} agents were served again after: median ${median(times).toFixed(0)} ms, most ${Math.max(...times).toFixed(0)} ms (<= ${BACK_MS})`,
    );
    expect(median(times)).toBeLessThanOrEqual(BACK_MS);
  });
});

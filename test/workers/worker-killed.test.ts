// A worker that is killed takes its own connections with it, and nothing else.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { DEFAULT_TIMING } from '../../agent/src/client/timing.ts';
import type { TestClient } from '../agent/client/support.ts';
import { serve, service } from '../cluster/support.ts';
import { eventually } from '../support/eventually.ts';
import { visit } from '../support/visit.ts';
import { LONG, type ProcessGroup, startProcessGroup } from './support.ts';
import { startVisitors } from './visitors.ts';

const AGENTS = 3;
/** A second was seen; the machine may be busy. */
const BACK_MS = 5000;

let group: ProcessGroup;
beforeAll(async () => {
  group = await startProcessGroup();
});
afterAll(() => group?.close());

/** An agent as it is without a test's short pauses, and the name of its tunnel, with which the service answers. */
async function agentAt(worker: number, name: string): Promise<TestClient> {
  const agent = await group.agentAt(worker, { timing: DEFAULT_TIMING });
  await serve(agent, await service((_, response) => void response.end(name)), { domain: name });
  return agent;
}

const namesOf = (prefix: string) => Array.from({ length: AGENTS }, (_, index) => `${prefix}-${index}.tunnel.localhost`);

test(
  'its agents are back within moments, tunnels at the other worker do not fail, and another is started',
  LONG,
  async () => {
    const [staying, lost] = [namesOf('staying'), namesOf('lost')];
    for (const name of staying) await agentAt(0, name);
    const agents: TestClient[] = [];
    for (const name of lost) agents.push(await agentAt(1, name));

    // At the worker that stays: the connections of the other end with it.
    const own = await group.connectionAt(0);
    const failures: string[] = [];
    let visits = 0;
    let isOver = false;
    const visiting = (async () => {
      while (!isOver)
        for (const name of staying) {
          const answer = await visit(`http://${name}/`, group.gateway.http, { agent: own }).catch(String);
          if (typeof answer === 'string' || answer.body !== name) failures.push(JSON.stringify(answer));
          visits++;
        }
    })();
    onTestFinished(() => {
      isOver = true;
    });

    const killed = group.kill(1, 'SIGKILL');
    const began = performance.now();
    // All are served again: by the worker that is left, or by the one that is new.
    for (const name of lost)
      await eventually(async () => {
        const { body } = await visit(`http://${name}/`, group.gateway.http, { agent: own });
        expect(body).toBe(name);
      });
    expect(performance.now() - began).toBeLessThan(BACK_MS);
    for (const { client } of agents) expect(client.status.sessions).toBe(2);

    await group.settled();
    expect(group.pid(1)).not.toBe(killed);
    await agentAt(1, 'new.tunnel.localhost');
    expect((await visit('http://new.tunnel.localhost/', group.gateway.http, { agent: own })).body).toBe(
      'new.tunnel.localhost',
    );
    isOver = true;
    await visiting;
    expect(failures).toEqual([]);
    expect(visits).toBeGreaterThan(AGENTS);
  },
);

test('who connects anew while a worker is killed reaches the other', LONG, async () => {
  const name = 'anew.tunnel.localhost';
  await agentAt(0, name);
  // At worker 1 nobody is when it ends: a connection that it has accepted would end with it.
  await group.at(0, async () => {
    const visitors = startVisitors(group.gateway.http, { [name]: name });
    await visitors.more(20);
    group.kill(1, 'SIGKILL');
    await visitors.more(200);
    await visitors.stop();
    expect(visitors.failures).toEqual([]);
  });
  await group.settled();
});

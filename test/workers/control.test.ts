// The control process is away, for a moment or for good: visitors of names that are known do not notice.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { TestClient } from '../agent/client/support.ts';
import { serve, service } from '../cluster/support.ts';
import { eventually } from '../support/eventually.ts';
import { visit } from '../support/visit.ts';
import { CONTROL, LONG, type ProcessGroup, startProcessGroup, WORKERS } from './support.ts';
import { startVisitors, type Visitors } from './visitors.ts';

/** For so many visits the control process is stopped, and at least for so long. */
const VISITS = 200;
const STOPPED_MS = 2000;

let group: ProcessGroup;
beforeAll(async () => {
  group = await startProcessGroup();
});
afterAll(() => group?.close());

/** Agents at each worker, by the names of their tunnels, whose services answer with these. */
async function open(prefix: string): Promise<Map<string, TestClient>> {
  const opened = new Map<string, TestClient>();
  for (const worker of WORKERS) {
    const name = `${prefix}-${worker}.tunnel.localhost`;
    const agent = await group.agentAt(worker);
    await serve(agent, await service((_, response) => void response.end(name)), { domain: name });
    opened.set(name, agent);
  }
  return opened;
}

/** Visitors of all names, at both workers, which know the names from now on. */
async function visitors(names: string[]): Promise<Visitors> {
  for (const worker of WORKERS) {
    const agent = await group.connectionAt(worker);
    for (const name of names) expect((await visit(`http://${name}/`, group.gateway.http, { agent })).body).toBe(name);
  }
  const visitors = startVisitors(group.gateway.http, Object.fromEntries(names.map((name) => [name, name])));
  onTestFinished(() => visitors.stop());
  return visitors;
}

async function sessionIds(): Promise<string[]> {
  const { status, body } = await group.gateway.call('GET', '/tunnel_sessions');
  expect(status).toBe(200);
  return body.tunnel_sessions.map(({ id }: { id: string }) => id).sort();
}

test(
  'while the control process stands still, and when it goes on, no visitor of a known name fails',
  LONG,
  async () => {
    const agents = await open('stopped');
    const sessions = await sessionIds();
    const all = await visitors([...agents.keys()]);
    const pid = group.kill(CONTROL, 'SIGSTOP');
    await Promise.all([all.more(VISITS), new Promise((resolve) => setTimeout(resolve, STOPPED_MS))]);
    process.kill(pid, 'SIGCONT');
    await eventually(async () => expect(await sessionIds()).toEqual(sessions));
    await all.more(VISITS);
    await all.stop();
    expect(all.failures).toEqual([]);
    expect([...agents.values()].map(({ client }) => client.status.sessions)).toEqual([1, 1]);
  },
);

test(
  'when it is killed, another takes over with the sessions as they are, and no visitor of a known name fails',
  LONG,
  async () => {
    const { gateway } = group;
    const agents = await open('killed');
    const credential = (await gateway.call('POST', '/credentials', {})).body;
    const revoked = await group.agentAt(1, { authtoken: credential.token });
    const sessions = await sessionIds();
    const all = await visitors([...agents.keys()]);
    const pid = group.kill(CONTROL, 'SIGKILL');
    await all.more(VISITS);
    await group.settled();
    expect(group.pid(CONTROL)).not.toBe(pid);
    await all.more(VISITS);
    await all.stop();
    expect(all.failures).toEqual([]);
    expect(await sessionIds()).toEqual(sessions);

    // What the agents have goes on, and new binds come to it.
    for (const [index, agent] of [...agents.values()].entries()) {
      const name = `again-${index}.tunnel.localhost`;
      await serve(agent, await service((_, response) => void response.end(name)), { domain: name });
      for (const worker of WORKERS) {
        const answer = await visit(`http://${name}/`, gateway.http, { agent: await group.connectionAt(worker) });
        expect(answer.body).toBe(name);
      }
    }
    expect((await gateway.call('DELETE', `/credentials/${credential.id}`)).status).toBe(204);
    await revoked.until(() => revoked.client.status.state === 'refused');
    await eventually(async () => expect(await sessionIds()).toHaveLength(sessions.length - 1));
    expect([...agents.values()].map(({ client }) => client.status.sessions)).toEqual([1, 1]);
  },
);

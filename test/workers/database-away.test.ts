// The PostgreSQL server is away, for longer than a node's lease: visitors of known names do not notice, agents stay, the API says what
// is wrong, and what waited is done when the server is back. A server that is silent is a matter of `npm run soak -- long`.

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newClient, PATIENT, type TestClient } from '../agent/client/support.ts';
import { serve, service } from '../cluster/support.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { newPlace, onServer } from '../support/gateway/place.ts';
import { shortened } from '../support/shortened.ts';
import { visit } from '../support/visit.ts';
import { type ProcessGroup, startProcessGroup, WORKERS } from './support.ts';
import { startVisitors } from './visitors.ts';

const LEASE_MS = 1000;
const AWAY_MS = 3 * LEASE_MS;
/** Of each phase. */
const VISITS = 60;
/** A statement that the server still works on, as far as the gateway can tell, may take 30 s. */
const BACK = { timeout: 60_000, interval: 100 };
const LONG = { timeout: 180_000 };

describe.runIf(onServer)('while the PostgreSQL server is away', () => {
  let group: ProcessGroup;
  let proxy: FaultProxy;
  beforeAll(async () => {
    const place = await newPlace();
    const url = new URL(place.env.DATABASE_URL ?? '');
    proxy = await startFaultProxy(url.hostname, Number(url.port || 5432));
    url.host = `127.0.0.1:${proxy.port}`;
    group = await startProcessGroup({ DATABASE_URL: url.href, NODE_LEASE_MS: String(LEASE_MS) }, place);
  });
  afterAll(async () => {
    await group?.close();
    await proxy?.close();
  });

  const ready = async () => {
    const response = await fetch(`${group.gateway.admin}/readyz`);
    return { status: response.status, text: await response.text() };
  };
  const sessions = async (): Promise<string[]> => {
    const { status, body } = await group.gateway.call('GET', '/tunnel_sessions');
    expect(status).toBe(200);
    return body.tunnel_sessions.map(({ id }: { id: string }) => id).sort();
  };
  const answering = (name: string) => service((_, response) => void response.end(name));

  const ways: [string, () => unknown][] = [
    [
      'refuses connections',
      () => {
        proxy.refuse();
        return proxy.cut();
      },
    ],
    ['is silent', () => proxy.shape({ outage: 'black hole' })],
  ];
  test.for(shortened(ways))('and %s, no visitor of a known name fails, and agents stay', LONG, async ([how, lose]) => {
    onTestFinished(() => proxy.heal());
    const { gateway } = group;
    const prefix = how.replaceAll(' ', '-');
    const agents = new Map<string, TestClient>();
    for (const worker of WORKERS) {
      const name = `${prefix}-${worker}.tunnel.localhost`;
      const agent = await group.agentAt(worker);
      await serve(agent, await answering(name), { domain: name });
      agents.set(name, agent);
    }
    const names = [...agents.keys()];
    const visitAll = async (wanted: readonly string[]) => {
      for (const worker of WORKERS) {
        const agent = await group.connectionAt(worker);
        for (const name of wanted) expect((await visit(`http://${name}/`, gateway.http, { agent })).body).toBe(name);
      }
    };
    await visitAll(names); // From now on, both workers know all.
    const before = await sessions();
    const visitors = startVisitors(gateway.http, Object.fromEntries(names.map((name) => [name, name])));
    onTestFinished(() => visitors.stop());
    await visitors.more(VISITS);

    await lose();
    const began = performance.now();
    const notReady = { status: 503, text: expect.stringMatching(/database/i) };
    await eventually(async () => expect(await ready()).toMatchObject(notReady));
    expect(await gateway.call('GET', '/tunnel_sessions')).toMatchObject({
      status: 503,
      headers: { 'retry-after': expect.stringMatching(/^[1-9]\d*$/) },
      body: { error_code: 'ERR_GATEWAY_90080', status_code: 503 },
    });
    // A bind, and an agent that comes, wait.
    const late = `${prefix}-late.tunnel.localhost`;
    const [first] = agents.values();
    const bound = serve(first as TestClient, await answering(late), { domain: late });
    const [host = '', port] = gateway.agent.split(':');
    const { authtoken = '' } = gateway;
    const newcomer = newClient({ host, port: Number(port), ca: group.ca }, { authtoken, legs: 1 }, PATIENT);
    onTestFinished(() => newcomer.client.close());
    await visitors.more(VISITS);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, AWAY_MS - (performance.now() - began))));
    await visitors.more(VISITS);

    await proxy.heal();
    await eventually(async () => expect(await ready()).toMatchObject({ status: 200 }), BACK);
    expect(await bound).toBe(`http://${late}:${gateway.http.split(':')[1]}`);
    await newcomer.until(() => newcomer.client.status.state === 'online');
    await visitors.more(VISITS);
    await visitors.stop();
    expect(visitors.failures).toEqual([]);
    expect([...agents.values()].map(({ client }) => client.status.sessions)).toEqual([1, 1]);
    const after = await sessions();
    expect(after.filter((id) => before.includes(id))).toEqual(before);
    const again = `${prefix}-again.tunnel.localhost`;
    await serve(newcomer, await answering(again), { domain: again });
    await visitAll([...names, late, again]);
  });
});

// What a gateway served that died, or was away from the database for longer than its lease: the others tell of it within
// seconds, and once.

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { waiting } from '../../events/waiting.ts';
import { newClientId, newCredential } from '../../support/agents/live.ts';
import { rawAgent } from '../../support/agents/raw-agent.ts';
import { webhookAt } from '../../support/events/pipeline-account.ts';
import { startReceiver } from '../../support/events/pipeline-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { type Call, onServer, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace } from '../../support/gateway/place.ts';
import { type GatewayProcess, startProcess } from '../../support/gateway/process.ts';
import { type Subscription, subscribe } from '../../support/gateway/sse.ts';
import { visit } from '../../support/visit.ts';

/** A busy machine must not lose a lease of a node that is alive; milliseconds. */
const LEASE_MS = 4000;
/** In which the end of a dead node is told; milliseconds. It takes a lease and a third on a machine with nothing to do. */
const TOLD_MS = 30_000;
/** Between two looks at what has to stay; milliseconds. */
const LOOK_MS = 100;
const KEY = 'key-of-the-tests-of-dead-nodes';

describe.runIf(onServer)('on a server', () => {
  /** A process that is to be killed, and two gateways that stay, on one database. */
  async function three(): Promise<[GatewayProcess, TestGateway, TestGateway]> {
    const place = await newPlace();
    onTestFinished(() => place.remove());
    const env = {
      INITIAL_API_KEY: KEY,
      NODE_LEASE_MS: String(LEASE_MS),
      EVENT_WEBHOOK_HOSTS: '127.0.0.0/8',
      PUBLIC_API_URL: 'http://api.example',
    };
    const dead = await startProcess(env, place);
    onTestFinished(async () => void (await dead.kill()));
    const stay = async () => {
      const gateway = await startTestGateway(env, { place });
      onTestFinished(() => gateway.close());
      return gateway;
    };
    return [dead, await stay(), await stay()];
  }

  /** An agent of an account of its own that has a leg at each of two gateways. */
  async function twoLegs(first: GatewayProcess, second: TestGateway) {
    const { call, ...account } = await second.newAccount();
    const { receiver } = await endsOf(call);
    const { authtoken } = await newCredential({ call, ...account });
    const leg = await rawAgent({ agent: first.agent, ca: second.ca });
    const { ClientId, Extra } = await leg.auth(authtoken);
    const bound = await leg.bind('legs.tunnel.localhost');
    const staying = await rawAgent(second);
    await staying.auth(authtoken, { ClientId, Extra: { Cookie: Extra.Cookie, LegNumber: 1 } });
    const again = { Id: bound.Id, Extra: { Token: bound.Extra.Token } };
    expect(await staying.bind('legs.tunnel.localhost', again)).toMatchObject({ Error: '', Id: bound.Id });
    return {
      async isServed() {
        const { body } = await call('GET', '/endpoints');
        expect(body.endpoints).toMatchObject([{ tunnel: { id: bound.Id } }]);
        expect(await visit('http://legs.tunnel.localhost', second.http)).toMatchObject({ status: 200, body: bound.Id });
      },
      async end() {
        await receiver.until(() => receiver.taken.length >= 1);
        staying.close();
        await receiver.until(() => receiver.taken.length >= 3);
        const told = receiver.taken.map(({ event_type: type }) => type);
        expect(told).toEqual(['agent_session_stop.v0', 'endpoint_offline.v0', 'agent_session_stop.v0']);
      },
    };
  }

  /** Has the ends of endpoints and sessions told to a receiver. */
  async function endsOf(call: Call) {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const target = { format: 'json', target: webhookAt(receiver.url) };
    const destination = await call('POST', '/event_destinations', target);
    expect(destination.status, destination.text).toBe(201);
    const { status, text } = await call('POST', '/event_subscriptions', {
      sources: [{ type: 'endpoint_offline.v0' }, { type: 'agent_session_stop.v0' }],
      destination_ids: [destination.body.id],
    });
    expect(status, text).toBe(201);
    return { receiver };
  }

  test('the end of a node that was killed is told within seconds, once by all; what an agent also serves at another stays', {
    timeout: 150_000,
  }, async () => {
    const [dead, ...others] = await three();
    const legs = await twoLegs(dead, others[0]);
    const { call } = dead;
    const { receiver } = await endsOf(call);
    const { body: credential } = await call('POST', '/credentials', {});

    const heard: object[][] = [];
    for (const { api } of others) {
      const list: object[] = [];
      heard.push(list);
      for (const kind of ['endpoint', 'tunnelSession'])
        void follow(await subscribe(api, KEY, `subscription { ${kind}Changed { objectId action } }`), list);
    }
    const ends = (list: object[]) => list.filter((change) => (change as { action: string }).action === 'DELETED');
    const names = ['one', 'two'].map((name) => `${name}.tunnel.localhost`);
    const { ca } = others[0];
    const lost = await rawAgent({ agent: dead.agent, ca });
    expect((await lost.auth(credential.token)).Error).toBe('');
    for (const name of names) expect((await lost.bind(name)).Error).toBe('');
    const left = await rawAgent(others[0]);
    expect((await left.auth(credential.token)).Error).toBe('');
    const { body: before } = await call('GET', '/endpoints');
    const { body: sessions } = await call('GET', '/tunnel_sessions');
    expect([before.endpoints.length, sessions.tunnel_sessions.length]).toEqual([2, 2]);

    const begun = performance.now();
    await dead.kill('SIGKILL');
    let isTold = false;
    const told = receiver
      .until(() => receiver.taken.length >= 3)
      .then(() => {
        isTold = true;
      });
    for (; !isTold; await Promise.race([told, pause(LOOK_MS)])) await legs.isServed();
    expect(performance.now() - begun).toBeLessThan(TOLD_MS);
    // What is told next comes after all that was told of the node.
    left.close();
    await receiver.until(() => receiver.taken.length >= 4);
    const endpointIds: string[] = before.endpoints.map(({ id }: { id: string }) => id);
    const stops = receiver.taken.filter(({ event_type: type }) => type === 'agent_session_stop.v0');
    expect(receiver.taken.map(({ event_type: type }) => type)).toEqual([
      ...['endpoint_offline.v0', 'endpoint_offline.v0', 'agent_session_stop.v0'],
      'agent_session_stop.v0',
    ]);
    expect(receiver.taken.slice(0, 2).map(({ object }) => object.id)).toEqual(expect.arrayContaining(endpointIds));
    expect(stops.map(({ object }) => object.error)).toEqual(['the gateway node was lost', '']);
    const sessionIds = stops.map(({ object }) => object.session.id);
    for (const list of heard) {
      await eventually(() => expect(ends(list)).toContainEqual({ objectId: sessionIds[1], action: 'DELETED' }));
      const expected = [...endpointIds, ...sessionIds].map((id) => ({ objectId: id, action: 'DELETED' }));
      const told = ends(list);
      expect(told).toHaveLength(expected.length);
      expect(told).toEqual(expect.arrayContaining(expected));
    }
    await legs.isServed();
    await legs.end();
  });

  test('a node that was away from the database comes back, and nothing is told twice', {
    timeout: 60_000,
  }, async () => {
    const place = await newPlace();
    onTestFinished(() => place.remove());
    const url = new URL(place.env.DATABASE_URL ?? '');
    const proxy = await startFaultProxy(url.hostname, Number(url.port || 5432));
    onTestFinished(() => proxy.close());
    url.host = `127.0.0.1:${proxy.port}`;
    const shared = { SERVER_KEY: randomBytes(32).toString('base64'), NODE_LEASE_MS: String(LEASE_MS) };
    const other = await startTestGateway(shared, { place });
    onTestFinished(() => other.close());
    const away = await startTestGateway({ ...shared, DATABASE_URL: url.href }, { place });
    onTestFinished(() => away.close());

    const types = ['agent_session_start.v0', 'agent_session_stop.v0', 'endpoint_online.v0', 'endpoint_offline.v0'];
    const { events } = await waiting(other, other, types);
    const told = async () => (await events()).map(({ event_type: type }) => type);
    const credential = await newCredential(other);
    const ClientId = newClientId();
    const serve = async () => {
      const agent = await rawAgent(away);
      expect((await agent.auth(credential.authtoken, { ClientId })).Error).toBe('');
      expect((await agent.bind('back.tunnel.localhost')).Error).toBe('');
      return agent;
    };
    const agent = await serve();
    const there = ['agent_session_start.v0', 'endpoint_online.v0'];
    expect(await told()).toEqual(there);

    proxy.refuse();
    await Promise.all([...proxy.connections].map((connection) => connection.cut()));
    const gone = ['endpoint_offline.v0', 'agent_session_stop.v0'];
    await eventually(async () => expect(await told()).toEqual([...there, ...gone]), { timeout: TOLD_MS });
    await proxy.heal();
    await agent.closed;
    await eventually(async () => expect((await fetch(`${away.admin}/readyz`)).status).toBe(200));
    // An agent comes back, and may be refused while its node has not joined again.
    const back = await eventually(serve);
    expect((await other.call('GET', '/endpoints')).body.endpoints).toHaveLength(1);
    expect(await told()).toEqual([...there, ...gone, ...there]);
    back.close();
    await eventually(async () => expect(await told()).toEqual([...there, ...gone, ...there, ...gone]));
  });
});

/** Gathers what a subscription to one kind of object tells, until it is closed. */
async function follow(stream: Subscription, into: object[]): Promise<void> {
  onTestFinished(stream.close);
  const next = () => stream.next().catch(() => null);
  for (let event = await next(); event !== null; event = await next())
    into.push(Object.values(event.data as object)[0]);
}

// What gateways that share a PostgreSQL server tell each other: connections that go silent, and messages that are none.

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newCredential } from '../support/agents/live.ts';
import { rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, type ProxiedConnection, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { onServer, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace, type Place } from '../support/gateway/place.ts';
import { openEvents, subscribe } from '../support/gateway/sse.ts';
import { isLong } from '../support/shortened.ts';

/** In which whatever was revoked elsewhere is refused, and the API serves again; milliseconds. A busy machine takes longer. */
const SAFE_MS = isLong ? 5000 : 20_000;

describe.runIf(onServer)('two gateways on one server', () => {
  let place: Place;
  let proxy: FaultProxy;
  let gateway: TestGateway;
  let other: TestGateway;
  let server: pg.Client;
  beforeAll(async () => {
    place = await newPlace();
    const url = new URL(place.env.DATABASE_URL ?? '');
    server = new pg.Client({ connectionString: url.href });
    await server.connect();
    proxy = await startFaultProxy(url.hostname, Number(url.port || 5432));
    url.host = `127.0.0.1:${proxy.port}`;
    gateway = await startTestGateway({ DATABASE_URL: url.href }, { place });
    other = await startTestGateway({}, { place });
  });
  afterAll(async () => {
    await Promise.all([gateway?.close(), other?.close()]);
    await server?.end();
    await proxy?.close();
    await place?.remove();
  });

  const ready = async () => (await fetch(`${gateway.admin}/readyz`)).status;
  /** The proxied connection on which the gateway listens. */
  async function listening(): Promise<ProxiedConnection> {
    const { rows } = await server.query(
      `SELECT client_port FROM pg_stat_activity WHERE application_name = 'gateway listener' AND datname = current_database()`,
    );
    const ports = rows.map(({ client_port }) => client_port);
    const found = [...proxy.connections].filter(({ port }) => ports.includes(port));
    expect(found).toHaveLength(1);
    return found[0] as ProxiedConnection;
  }
  const notify = (payload: string) => server.query('SELECT pg_notify($1, $2)', ['gateway_changes', payload]);

  test('a connection that goes silent is noticed: what was revoked meanwhile is refused within 5 s', async () => {
    const account = await other.newAccount();
    const credential = await newCredential(account);
    const agent = await rawAgent(gateway);
    expect((await agent.auth(credential.authtoken)).Error).toBe('');
    const { body: key } = await account.call('POST', '/api_keys', {});
    const use = async () => (await gateway.call('GET', '/credentials', undefined, { key: key.token })).status;
    expect([await use(), await ready()]).toEqual([200, 200]);

    const silent = await listening();
    silent.shape({ outage: 'black hole' });
    const begun = performance.now();
    await account.call('DELETE', `/credentials/${credential.credentialId}`);
    await account.call('DELETE', `/api_keys/${key.id}`);
    await agent.closed;
    expect(await use()).toBe(401);
    expect(performance.now() - begun).toBeLessThan(SAFE_MS);
    await eventually(async () => expect(await ready()).toBe(200));
    await silent.cut();
  });

  test('while it cannot listen it is not ready, and says why', async () => {
    const silent = await listening();
    proxy.refuse();
    silent.shape({ outage: 'black hole' });
    await eventually(async () => {
      const answer = await fetch(`${gateway.admin}/readyz`);
      expect([answer.status, await answer.text()]).toEqual([503, expect.stringMatching(/^The LISTEN connection/)]);
    });
    await proxy.heal();
    await eventually(async () => expect(await ready()).toBe(200));
    await silent.cut();
  });

  test('a failover that tells nobody: the API serves again, with all its connections', async () => {
    const { call } = gateway;
    const busy = () =>
      Promise.all(Array.from({ length: 20 }, () => call('GET', '/credentials').then((it) => it.status)));
    expect(new Set(await busy())).toEqual(new Set([200]));
    const written = await call('POST', '/credentials', {});
    for (const connection of proxy.connections) connection.shape({ outage: 'black hole' });
    const begun = performance.now();
    await Promise.all([busy(), call('POST', '/credentials', {})]); // Some are answered with 503, and none waits for ever.
    await eventually(async () => expect([...new Set(await busy()), await ready()]).toEqual([200, 200]));
    expect(performance.now() - begun).toBeLessThan(SAFE_MS);
    expect((await call('GET', `/credentials/${written.body.id}`)).status).toBe(200);
    expect((await call('POST', '/credentials', {})).status).toBe(201);
  });

  test('a statement that takes long on a server that is there is waited for', async () => {
    const { prisma } = gateway.app;
    expect(await prisma.$queryRaw`SELECT 7 AS seven FROM pg_sleep(4)`).toEqual([{ seven: 7 }]);
  });

  test('what is no message is dropped and logged, and messages are heard as before', async () => {
    const account = await gateway.newAccount();
    const stream = await subscribe(gateway.api, account.key, 'subscription { credentialChanged { objectId action } }');
    const { body } = await account.call('POST', '/credentials', {});
    expect((await stream.next()).data.credentialChanged).toEqual({ objectId: body.id, action: 'CREATED' });
    const change = { kind: 'credential', action: 'UPDATED', id: body.id, accountId: account.accountId };
    const wrong = [
      ...['', 'not json', 'null', '[]', '7', '{}', '{"node":7}', '{"changes":[null]}'],
      ...[null, [null], {}, [{ ...change, action: 'EXPLODED' }], [{ ...change, id: undefined }]].map((changes) =>
        JSON.stringify({ node: 'elsewhere', changes }),
      ),
      ...[null, {}, { topic: 'command' }, { topic: 'command', body: null }].map((word) =>
        JSON.stringify({ node: 'elsewhere', word }),
      ),
    ];
    for (const payload of wrong) await notify(payload);
    // Well formed, and of no use to whoever hears it.
    for (const topic of ['command', 'outcome', 'nobody'])
      await notify(JSON.stringify({ node: 'elsewhere', word: { topic, body: { id: 7, sessionId: null } } }));
    await notify(JSON.stringify({ node: 'elsewhere', changes: [change] }));
    expect((await stream.next()).data.credentialChanged).toEqual({ objectId: body.id, action: 'UPDATED' });
    stream.close();
    const dropped = gateway.logs.filter((line) => line.includes('malformed message of another gateway dropped'));
    expect(dropped).toHaveLength(wrong.length);
    expect([await ready(), gateway.fatal]).toEqual([200, []]);
  });

  test('a stream goes on at one that was begun at the other', async () => {
    const account = await gateway.newAccount();
    const operation = { query: 'subscription { credentialChanged { objectId } }' };
    const create = async () => (await account.call('POST', '/credentials', {})).body.id;
    const begun = await openEvents(gateway.api, account.key, operation);
    // The other has to have listened for a while: nothing else lets it know what was before.
    await eventually(async () => {
      await create();
      const { id } = await begun.next();
      const missed = await create();
      await begun.next();
      const continued = await openEvents(other.api, account.key, operation, id);
      const told = async () => (await continued.next()).data.data.credentialChanged.objectId;
      const first = await told();
      if (first === '') continued.close();
      expect(first).not.toBe('');
      for (let last = first; last !== missed; ) last = await told();
      continued.close();
    });
    begun.close();
  });
});

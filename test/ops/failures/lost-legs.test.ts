// An agent at two gateways, of which one is killed: its endpoints stay, and nobody is told that they went. `npm test` has one in
// test/ops/failures/dead-nodes.test.ts.

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Reply, rawAgent } from '../../support/agents/raw-agent.ts';
import { webhookAt } from '../../support/events/pipeline-account.ts';
import { startReceiver } from '../../support/events/pipeline-receiver.ts';
import { onServer, startTestGateway } from '../../support/gateway/gateway.ts';
import { newPlace } from '../../support/gateway/place.ts';
import { startProcess } from '../../support/gateway/process.ts';
import { visit } from '../../support/visit.ts';

const LEASE_MS = 2000;
/** Between two looks whether the endpoint is there; milliseconds. */
const LOOK_MS = 50;
const KEY = 'key-of-the-tests-of-lost-legs';
const NAME = 'legs.tunnel.localhost';

describe.runIf(onServer)('on a server', () => {
  const nodes = [
    ['of its tunnel', 0],
    ['of a further leg', 1],
  ] as const;
  test.each(nodes)('the node %s is killed', { timeout: 120_000 }, async (_, killed) => {
    const place = await newPlace();
    onTestFinished(() => place.remove());
    const database = new pg.Client({ connectionString: place.env.DATABASE_URL });
    await database.connect();
    onTestFinished(() => database.end());
    const env = { INITIAL_API_KEY: KEY, NODE_LEASE_MS: String(LEASE_MS), EVENT_WEBHOOK_HOSTS: '127.0.0.0/8' };
    const lost = await startProcess(env, place);
    onTestFinished(async () => void (await lost.kill()));
    const other = await startTestGateway(env, { place });
    onTestFinished(() => other.close());
    const agentOf = (leg: number) => rawAgent({ agent: (leg === killed ? lost : other).agent, ca: other.ca });
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const created = await other.call('POST', '/event_destinations', {
      format: 'json',
      target: webhookAt(receiver.url),
    });
    const sources = [{ type: 'endpoint_offline.v0' }, { type: 'agent_session_stop.v0' }];
    const subscription = { sources, destination_ids: [created.body.id] };
    expect((await other.call('POST', '/event_subscriptions', subscription)).status).toBe(201);
    const { body: credential } = await other.call('POST', '/credentials', {});

    const first = await agentOf(0);
    const { ClientId, Extra } = await first.auth(credential.token);
    const bound = await first.bind(NAME);
    const second = await agentOf(1);
    await second.auth(credential.token, { ClientId, Extra: { Cookie: Extra.Cookie, LegNumber: 1 } });
    const again = { Id: bound.Id, Extra: { Token: bound.Extra.Token } };
    expect(await second.bind(NAME, again)).toMatchObject({ Error: '', Id: bound.Id });

    await lost.kill('SIGKILL');
    // The rows are as they were, until the lease has ended: the endpoint is there all the time.
    const rows = async (sql: string): Promise<Reply[]> => (await database.query(sql)).rows;
    expect(await rows('SELECT leg FROM tunnel_session ORDER BY leg')).toEqual([{ leg: 0 }, { leg: 1 }]);
    for (let isSwept = false; !isSwept; ) {
      isSwept = (await rows('SELECT id FROM tunnel_session')).length === 1;
      const { body } = await other.call('GET', '/endpoints');
      expect(body.endpoints).toMatchObject([{ hostport: expect.stringContaining(NAME), tunnel: { id: bound.Id } }]);
      expect((await other.call('GET', `/tunnels/${bound.Id}`)).status).toBe(200);
      expect(await visit(`http://${NAME}`, other.http)).toMatchObject({ status: 200, body: bound.Id });
      await pause(LOOK_MS);
    }
    expect(await rows('SELECT session_id FROM tunnel_leg')).toEqual([]);
    const [row] = await rows(
      'SELECT s.leg, s.node_id = e.node_id AS same FROM tunnel t JOIN tunnel_session s ON s.id = t.session_id JOIN endpoint e ON e.tunnel_id = t.id',
    );
    expect(row).toEqual({ leg: 1 - killed, same: true });

    // The last one says good-bye: only now the endpoint is offline.
    [first, second][1 - killed]?.close();
    await receiver.until(() => receiver.taken.length >= 3);
    expect(receiver.taken.map(({ event_type: type }) => type)).toEqual([
      'agent_session_stop.v0',
      'endpoint_offline.v0',
      'agent_session_stop.v0',
    ]);
  });
});

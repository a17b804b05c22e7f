// Our agent at two gateways that share a server: what it says of its legs, and visitors who do not notice that a gateway goes.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newDirectory, startLocal } from '../agent/agents.ts';
import { startService } from '../agent/visitors.ts';
import { waiting } from '../events/waiting.ts';
import { newCredential } from '../support/agents/live.ts';
import { eventually } from '../support/eventually.ts';
import { onServer, startTestGateway } from '../support/gateway/gateway.ts';
import { newPlace } from '../support/gateway/place.ts';
import { visit } from '../support/visit.ts';

describe.runIf(onServer)('two gateways on one server', () => {
  test('an agent serves at both, outlives one of them, and returns to it', { timeout: 120_000 }, async () => {
    const place = await newPlace();
    onTestFinished(() => place.remove());
    const start = async (overrides = {}) => {
      const gateway = await startTestGateway(overrides, { place });
      onTestFinished(() => gateway.close());
      return gateway;
    };
    const staying = await start();
    const leaving = await start();
    const account = await staying.newAccount();
    const credential = await newCredential(account);
    const { events } = await waiting(staying, account, ['endpoint_online.v0', 'endpoint_offline.v0']);
    const service = await startService('hello');
    onTestFinished(async () => void (await service.close()));
    const { path, remove } = newDirectory();
    onTestFinished(remove);
    const GATEWAY_CA = join(path, 'ca.pem');
    await writeFile(GATEWAY_CA, staying.ca);
    const env = {
      TUNNEL_AUTHTOKEN: credential.authtoken,
      GATEWAY_ADDR: `${leaving.agent}, ${staying.agent}`,
      GATEWAY_CA,
    };
    const agent = await startLocal(path, env, { timing: { legRetry: 50 } });
    onTestFinished(() => agent.close());

    const made = await agent.ask('POST', '/tunnels', { protocol: 'http', forwards_to: service.at });
    expect(made.status, made.text).toBe(200);
    const { url } = made.body;
    const legs = async () => (await agent.ask('GET', '/status')).body.legs;
    const isOnBoth = () =>
      eventually(async () => {
        expect(await legs()).toMatchObject([{ state: 'online' }, { state: 'online' }]);
        expect((await agent.ask('GET', '/status')).body.tunnels).toMatchObject([{ status: 'active', legs: 2 }]);
      });
    await isOnBoth();
    const nodes = (await legs()).map(({ node }: { node: string }) => node);
    expect(new Set(nodes).size).toBe(2);
    const seen = await account.graphql('{ endpoints { nodes { agents legs { number nodeId session { ip } } } } }');
    const shown = [0, 1].map((number) => ({ number, nodeId: nodes[number], session: { ip: '127.0.0.1' } }));
    expect(seen.body.data.endpoints.nodes).toEqual([{ agents: 1, legs: shown }]);
    for (const { http } of [staying, leaving])
      expect(await visit(url, http)).toMatchObject({ status: 200, body: 'hello' });
    const metrics = (await agent.ask('GET', '/metrics')).text;
    expect(metrics.match(/^agent_leg_up\{leg="[01]",gateway="127\.0\.0\.1:\d+",node="node_\w+"\} 1$/gm)).toHaveLength(
      2,
    );

    const port = leaving.agent.split(':')[1] ?? '';
    await leaving.close();
    expect(await visit(url, staying.http)).toMatchObject({ status: 200, body: 'hello' });
    expect((await agent.ask('GET', '/status')).body).toMatchObject({ ready: true, session: { state: 'online' } });
    expect((await account.call('GET', '/endpoints')).body.endpoints).toHaveLength(1);
    const returned = await start({ AGENT_PORT: port });
    await isOnBoth();
    expect(await visit(url, returned.http)).toMatchObject({ status: 200, body: 'hello' });
    expect((await events()).map((event) => event.event_type)).toEqual(['endpoint_online.v0']);

    const { body } = await agent.ask('DELETE', `/tunnels/${encodeURIComponent(url)}`);
    expect(body).toEqual({ detail: 'Tunnel deleted' });
    expect((await events()).map((event) => event.event_type)).toEqual(['endpoint_online.v0', 'endpoint_offline.v0']);
    expect(await staying.app.prisma.tunnel.count()).toBe(0);
  });
});

// Two gateways on one server with a bus between them.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Change } from '../../src/store/changes/changes.ts';
import { newCredential, type TestCredential } from '../support/agents/live.ts';
import { type RawAgent, rawAgent } from '../support/agents/raw-agent.ts';
import { testBuses, throughPort } from '../support/buses.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { onServer, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace, type Place } from '../support/gateway/place.ts';

/** In which a node finds what it was not told of; milliseconds. */
const FOUND_MS = 5000;

for (const bus of testBuses)
  describe.skipIf(!onServer || !bus.isThere)(`two gateways with ${bus.name}`, () => {
    let place: Place;
    let proxy: FaultProxy;
    let gateway: TestGateway;
    let other: TestGateway;
    beforeAll(async () => {
      place = await newPlace();
      const { hostname, port } = new URL(bus.url);
      proxy = await startFaultProxy(hostname, Number(port));
      gateway = await startTestGateway({ BUS_URL: throughPort(bus.url, proxy.port) }, { place, counting: true });
      other = await startTestGateway({ BUS_URL: bus.url }, { place });
    });
    afterAll(async () => {
      await Promise.all([gateway?.close(), other?.close()]);
      await proxy?.close();
      await place?.remove();
    });

    const heardThere = (passes: (change: Change) => boolean) =>
      new Promise<Change>((resolve) => {
        const stop = other.app.changes.listen((change) => {
          if (!passes(change)) return;
          stop();
          resolve(change);
        });
      });
    const ready = () => fetch(`${gateway.admin}/readyz`);
    async function connectAgent(): Promise<{ agent: RawAgent; credential: TestCredential; key: string }> {
      const account = await other.newAccount();
      const credential = await newCredential(account);
      const agent = await rawAgent(gateway);
      const Extra = { RestartUnsupportedError: '' };
      expect((await agent.auth(credential.authtoken, { Extra })).Error).toBe('');
      return { agent, credential, key: account.key };
    }
    const took = async (agent: RawAgent, begun: number) => {
      await agent.closed;
      return performance.now() - begun;
    };

    test('each hears what the other one changes, and nothing is notified in the database', async () => {
      gateway.statements.length = 0;
      const { agent, credential } = await connectAgent();
      const { accountId } = credential;
      const bound = heardThere((change) => change.kind === 'endpoint' && change.accountId === accountId);
      expect((await agent.bind(`hinted-${bus.name}.tunnel.localhost`)).Error).toBe('');
      expect(await bound).toMatchObject({ action: 'CREATED' });
      const account = await gateway.newAccount();
      const created = heardThere(({ kind, accountId }) => kind === 'credential' && accountId === account.accountId);
      await newCredential(account);
      await created;
      expect(gateway.statements.filter((statement) => /notify/i.test(statement))).toEqual([]);
      expect(gateway.statements.filter((statement) => statement.includes('nextval'))).toHaveLength(1);
    });

    test('a command reaches a session of the other one', async () => {
      const { agent, key } = await connectAgent();
      const { body } = await other.call('GET', '/tunnel_sessions', undefined, { key });
      const { status } = await other.call(
        'POST',
        `/tunnel_sessions/${body.tunnel_sessions[0].id}/restart`,
        {},
        { key },
      );
      expect([status, agent.asked.length]).toEqual([204, 1]);
    });

    test('a message that no gateway of the cluster has signed is dropped', async () => {
      const { value } = await gateway.app.prisma.setting.findUniqueOrThrow({ where: { name: 'cluster_id' } });
      const stranger = await (await bus.open(bus.url, `gateway.${value}`)).connect({
        onMessage: () => {},
        onLost: () => {},
      });
      const dropped = () => other.logs.filter((line) => line.includes('without a valid signature')).length;
      const before = dropped();
      const text = JSON.stringify({ node: 'x', changes: [{ kind: 'x', action: 'DELETED', id: 'x', accountId: 'x' }] });
      const heard = vi.fn();
      const stop = other.app.changes.listen(({ kind }) => kind === 'x' && heard());
      for (const message of ['', text, `${'x'.repeat(43)} ${text}`]) await stranger.publish(message);
      await eventually(() => expect(dropped()).toBe(before + 3));
      stranger.close();
      stop();
      expect(heard).not.toHaveBeenCalled();
    });

    test('nothing is read again while everything is heard', async () => {
      const account = await other.newAccount();
      const polls = () => gateway.statements.filter((statement) => statement.includes('last_value')).length;
      const [before, { gaps }] = [polls(), gateway.app.changes];
      await eventually(async () => {
        await newCredential(account);
        expect(polls()).toBeGreaterThan(before + 1); // The second one begins when the first has compared.
      });
      expect(gateway.app.changes.gaps).toBe(gaps);
    });

    test('a revocation whose message was lost is found within 5 s', async () => {
      const { agent, credential } = await connectAgent();
      const begun = performance.now();
      // As a process leaves it that dies between its commit and its message.
      await other.app.prisma.$transaction([
        other.app.prisma.$queryRaw`SELECT nextval('change_version')`,
        other.app.prisma.owner.updateMany({ where: { accountId: credential.accountId }, data: { active: false } }),
      ]);
      expect(await took(agent, begun)).toBeLessThan(FOUND_MS);
    });

    test('while the bus is away it is not ready, and finds what is revoked within 5 s', async () => {
      const { agent, credential, key } = await connectAgent();
      proxy.refuse();
      await proxy.cut();
      const begun = performance.now();
      await other.call('DELETE', `/credentials/${credential.credentialId}`, undefined, { key });
      await eventually(async () => {
        const answer = await ready();
        expect([answer.status, await answer.text()]).toEqual([503, expect.stringMatching(/BUS_URL/)]);
      });
      expect(await took(agent, begun)).toBeLessThan(FOUND_MS);
      await proxy.heal();
      await eventually(async () => expect((await ready()).status).toBe(200));
    });
  });

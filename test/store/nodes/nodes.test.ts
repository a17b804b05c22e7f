// Two gateways on one database server: whose live objects count, and which changes reach which node.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteNodes } from '../../../src/store/tunnels/delete-node.ts';
import { bound, leaveTo, nameRequest, newClientId, newCredential, openSession } from '../../support/agents/live.ts';
import { eventually } from '../../support/eventually.ts';
import { onServer, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';
import { A_WEEK_MS, newName, nodeIdOf } from './node-support.ts';

describe.runIf(onServer)('two gateways on a server', () => {
  let place: Place;
  let here: TestGateway;
  let there: TestGateway;
  beforeAll(async () => {
    place = await newPlace();
    here = await startTestGateway({}, { place });
    there = await startTestGateway({}, { place });
    await eventually(() => expectListening(2));
  });
  afterAll(async () => {
    await here?.close();
    await there?.close();
    await place?.remove();
  });

  const listeners = () =>
    here.app.prisma.$queryRaw<{ pid: number }[]>`
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gateway listener' AND query <> '' AND state = 'idle'`;
  const expectListening = async (count: number) => expect(await listeners()).toHaveLength(count);

  /** Waits until a session of a gateway is taken. */
  const takenFrom = ({ registrar }: TestGateway, sessionId: string) =>
    new Promise<void>((resolve) => {
      registrar.onSessionReplaced((id) => {
        if (id === sessionId) resolve();
      });
    });

  test('have ids of their own, though they share a data directory, and the first keeps its', async () => {
    const [first, second] = [await nodeIdOf(here), await nodeIdOf(there)];
    expect(first).not.toBe(second);
    expect((await readFile(join(place.dataDir, 'node'), 'utf8')).trim()).toBe(first);
  });

  test('notice when an agent of theirs has reconnected to the other', async () => {
    const clientId = newClientId();
    const credential = await newCredential(here);
    const before = await openSession(here, credential, { clientId });
    const taken = takenFrom(here, before);
    await openSession(there, credential, { clientId });
    await taken;
    expect(here.registrar.isOwn(before)).toBe(false);
  });

  test('are notified of changed credentials', async () => {
    const { credentialId } = await newCredential(here);
    const heard = new Promise((resolve) => {
      there.registrar.onGrantChange(resolve);
    });
    await here.call('PATCH', `/credentials/${credentialId}`, { acl: ['*'] });
    expect(await heard).toBe(credentialId);
  });

  test('do not bind names that the other serves, and look them up as elsewhere', async () => {
    const [hostname, credential] = [newName(), await newCredential(here)];
    const sessionId = await openSession(here, credential);
    bound(await here.registrar.bind(nameRequest(sessionId, hostname)));
    const rival = await openSession(there, credential);
    expect(await there.registrar.bind(nameRequest(rival, hostname))).toMatchObject({ refused: 'inUse' });
    expect(await there.registrar.lookUp({ listener: 'http', hostname })).toMatchObject({ status: 'elsewhere' });
    await here.registrar.sessionClosed(sessionId, 0);
    bound(await there.registrar.bind(nameRequest(rival, hostname)));
  });

  test('end what another has taken over since their lease had ended, and nothing else', async () => {
    const [hostname, credential] = [newName(), await newCredential(here)];
    const sessionId = await openSession(here, credential);
    bound(await here.registrar.bind(nameRequest(sessionId, hostname)));
    const nodeId = await nodeIdOf(here);
    const [idle, kept] = [await openSession(here, credential), newName()];
    bound(await here.registrar.bind(nameRequest(idle, kept)));
    const taken = takenFrom(here, sessionId);
    const rival = await openSession(there, credential);
    await there.app.prisma.node.update({ where: { id: nodeId }, data: { leaseUntil: new Date(Date.now() - 1) } });
    bound(await there.registrar.bind(nameRequest(rival, hostname)));
    await taken;
    expect(await there.app.prisma.endpoint.findMany({ where: { address: `http:${hostname}` } })).toHaveLength(1);
    const leaseUntil = async () =>
      (await there.app.prisma.node.findUniqueOrThrow({ where: { id: nodeId } })).leaseUntil;
    await eventually(async () => expect((await leaseUntil()).getTime()).toBeGreaterThan(Date.now()));
    expect([here.registrar.isOwn(sessionId), here.registrar.isOwn(idle)]).toEqual([false, true]);
    expect(await there.app.prisma.endpoint.findMany({ where: { address: `http:${kept}` } })).toHaveLength(1);
  });

  test('delete two nodes that shared an address at the same instant: it goes offline, and is held', async () => {
    const { prisma, changes } = here.app;
    const [hostname, account] = [newName(), await here.newAccount()];
    const credential = await newCredential(account);
    const dead: string[] = [];
    for (let i = 0; i < 2; i++) {
      const sessionId = await openSession(here, credential);
      bound(await here.registrar.bind(nameRequest(sessionId, hostname, { pooling: true })));
      dead.push(await leaveTo(here, sessionId, Date.now() + A_WEEK_MS));
    }
    const [one, two] = dead as [string, string];
    const forget = (nodeId: string, before: () => unknown) =>
      changes.transaction(prisma, async (db, announce) => {
        await deleteNodes({ db, announce, baseUrl: '' }, [nodeId], 60_000);
        await before();
      });
    // The second begins when the first has done everything and has not committed.
    let second: Promise<void> | undefined;
    await forget(one, async () => {
      second = forget(two, () => undefined);
      await eventually(async () => {
        const [{ waiting }] = await prisma.$queryRaw<[{ waiting: number }]>`
          SELECT count(*)::int AS waiting FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        expect(waiting).toBe(1);
      });
    });
    await second;
    const where = { accountId: account.accountId };
    expect(await prisma.offlineEndpoint.findMany({ where, select: { hostport: true } })).toEqual([
      { hostport: `${hostname}:80` },
    ]);
    const claim = await prisma.claim.findUniqueOrThrow({ where: { address: `http:${hostname}` } });
    expect(claim.heldUntil).not.toBeNull();
  });

  test('sweep the same nodes at the same instant, and announce each end once', async () => {
    const account = await here.newAccount();
    const credential = await newCredential(account);
    const sessions: string[] = [];
    for (let i = 0; i < 8; i++) {
      const sessionId = await openSession(here, credential);
      bound(await here.registrar.bind(nameRequest(sessionId, newName())));
      sessions.push(sessionId);
    }
    const told: string[] = [];
    const stops = [here, there].map(({ app }) =>
      app.changes.listen(({ kind, action, id }) => {
        if (kind === 'tunnelSession' && action === 'DELETED' && sessions.includes(id)) told.push(id);
      }),
    );
    for (const sessionId of sessions) await leaveTo(here, sessionId, Date.now() + A_WEEK_MS);
    const leaseUntil = new Date(Date.now() - 1);
    await here.app.prisma.node.updateMany({
      where: { sessions: { some: { id: { in: sessions } } } },
      data: { leaseUntil },
    });
    const { accountId } = account;
    await eventually(async () => {
      expect(await here.app.prisma.tunnelSession.count({ where: { accountId } })).toBe(0);
      // Where it was swept, and where that is heard.
      expect(new Set(told).size * 2).toBe(told.length);
      expect(told).toHaveLength(2 * sessions.length);
    });
    expect(await here.app.prisma.offlineEndpoint.count({ where: { accountId } })).toBe(sessions.length);
    for (const stop of stops) stop();
  });

  test('find out what they missed while they could not listen', async () => {
    const clientId = newClientId();
    const credential = await newCredential(here);
    const before = await openSession(here, credential, { clientId });
    const taken = takenFrom(here, before);
    const heard = new Promise((resolve) => {
      here.registrar.onGrantChange(resolve);
    });
    for (const { pid } of await listeners()) await here.app.prisma.$queryRaw`SELECT pg_terminate_backend(${pid})`;
    await openSession(there, credential, { clientId });
    await taken;
    expect(await heard).toBeNull();
    await eventually(() => expectListening(2));
  });
});

// A gateway that starts on the database of one before it: what it clears away, and what it keeps.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sweepExpiredAddresses } from '../../../src/store/nodes/nodes.ts';
import { bound, leaveTo, nameRequest, newCredential, openSession } from '../../support/agents/live.ts';
import { onServer, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';
import { A_WEEK_MS, newName, nodeIdOf } from './node-support.ts';

describe('one gateway after the other', () => {
  const overrides = { SERVER_KEY: randomBytes(32).toString('base64'), NODE_LEASE_MS: '600000' };
  let place: Place;
  let gateway: TestGateway;
  beforeAll(async () => {
    place = await newPlace();
  });
  afterAll(async () => {
    await gateway?.close();
    await place?.remove();
  });

  test('deletes what the one before left, and holds its addresses for their credentials', {
    timeout: 60_000,
  }, async () => {
    const [left, closed] = [newName(), newName()];
    const first = await startTestGateway(overrides, { place });
    // On a server a node clears away only what was its own: another one stays.
    const other = { ...overrides, DATA_DIR: `${place.dataDir}/other` };
    const witness = onServer ? await startTestGateway(other, { place }) : first;
    const [own, credential] = [await nodeIdOf(first), await newCredential(first)];
    bound(await first.registrar.bind(nameRequest(await openSession(first, credential), closed)));
    const sessionId = await openSession(witness, credential);
    const { endpointId } = bound(await witness.registrar.bind(nameRequest(sessionId, left)));
    if (onServer) await first.close();
    await leaveTo(witness, sessionId, Date.now() + A_WEEK_MS, onServer ? own : undefined);
    expect((await witness.call('GET', `/endpoints/${endpointId}`)).status).toBe(200);
    if (!onServer) await first.close();

    gateway = await startTestGateway(overrides, { place });
    expect((await gateway.call('GET', `/endpoints/${endpointId}`)).status).toBe(404);
    expect((await gateway.call('GET', `/tunnel_sessions/${sessionId}`)).status).toBe(404);
    const stranger = await openSession(gateway, await newCredential(gateway));
    const back = await openSession(gateway, credential);
    for (const hostname of [left, closed]) {
      expect(await gateway.registrar.bind(nameRequest(stranger, hostname))).toMatchObject({ refused: 'inUse' });
      bound(await gateway.registrar.bind(nameRequest(back, hostname)));
    }
    await gateway.registrar.sessionClosed(back, 0);
    await witness.close();
  });

  test('deletes dead nodes, and addresses whose hold has ended', async () => {
    const { prisma, changes } = gateway.app;
    const parts = { prisma, changes, baseUrl: () => gateway.api };
    const credential = await newCredential(gateway);
    const [dead, kept, over] = [newName(), newName(), newName()];
    const sessionId = await openSession(gateway, credential);
    bound(await gateway.registrar.bind(nameRequest(sessionId, dead)));
    for (const [hostname, holdMs] of [[kept, 60_000] as const, [over, 1] as const]) {
      const id = await openSession(gateway, credential);
      bound(await gateway.registrar.bind(nameRequest(id, hostname)));
      await gateway.registrar.sessionClosed(id, holdMs);
    }
    const own = await nodeIdOf(gateway);
    await leaveTo(gateway, sessionId, Date.now() - 80_000);
    const claims = async () => (await prisma.claim.findMany({ orderBy: { address: 'asc' } })).map((it) => it.address);
    await sweepExpiredAddresses(parts, { id: own, isSettled: true }, 600_000); // Its addresses are kept still, for as long as is left of that.
    expect(await prisma.node.findMany({ select: { id: true } })).toEqual([{ id: own }]);
    expect(await prisma.tunnelSession.findUnique({ where: { id: sessionId } })).toBeNull();
    expect(await claims()).toEqual([`http:${dead}`, `http:${kept}`]);
    const { heldUntil } = await prisma.claim.findUniqueOrThrow({ where: { address: `http:${dead}` } });
    expect((heldUntil?.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(520_000);

    const late = await openSession(gateway, credential);
    bound(await gateway.registrar.bind(nameRequest(late, newName())));
    await leaveTo(gateway, late, Date.now() - 80_000);
    await sweepExpiredAddresses(parts, { id: own, isSettled: true }, 79_000);
    expect(await claims()).toEqual([`http:${dead}`, `http:${kept}`]);
  });
});

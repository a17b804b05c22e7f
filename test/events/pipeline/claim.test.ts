// A target that is replaced at the very moment when its queue is claimed.

import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sealTarget } from '../../../src/store/events/target.ts';
import { newId } from '../../../src/store/ids.ts';
import { queueDatabase, written } from '../../store/queues/queue-database.ts';
import { onServer } from '../../support/gateway/place.ts';

const LEASE_MS = 60_000;
const ROUNDS = 25;

test.runIf(onServer)('who claims a queue after its target was replaced has the new target', async () => {
  const { prisma, keys, accountId, ...db } = await queueDatabase();
  const id = await db.destination();
  await db.store(id, written(1));
  // Many others that wait, and are not due: so the claim takes long enough to be in the way.
  const { target: stored } = await prisma.eventDestination.findUniqueOrThrow({
    where: { id },
  });
  const others = Array.from({ length: 1000 }, () => newId('ed'));
  await prisma.eventDestination.createMany({
    data: others.map((other) => ({
      id: other,
      accountId,
      format: 'json',
      target: stored ?? {},
    })),
  });
  const nextAt = new Date(Date.now() + 3_600_000);
  await prisma.eventLane.createMany({
    data: others.map((destinationId) => ({
      destinationId,
      accountId,
      nextAt,
    })),
  });
  const [batch] = await db.batches(id);
  const { count = 0, bytes = 0, body = new Uint8Array() } = batch ?? {};
  await prisma.eventBatch.createMany({
    data: others.map((destinationId) => ({
      destinationId,
      isTraffic: false,
      count,
      bytes,
      body,
    })),
  });

  const afresh = { nextAt: new Date(0), leaseToken: null, leaseUntil: null };
  for (let round = 0; round < ROUNDS; round++) {
    const url = `https://hooks.example.com/${round}`;
    const target = sealTarget(keys, {
      id,
      accountId,
      target: { webhook: { url, signingSecret: null } },
    });
    let isReplaced = false;
    const replaced = prisma
      .$transaction(async (tx) => {
        await tx.$queryRaw`SELECT id FROM event_destination WHERE id = ${id} FOR NO KEY UPDATE`;
        await tx.eventDestination.update({
          where: { id },
          data: { target, lane: { update: afresh } },
        });
      })
      .then(() => {
        isReplaced = true;
      });
    const claims: ReturnType<typeof db.queues.claim>[] = [];
    while (!isReplaced) {
      claims.push(db.queues.claim(LEASE_MS));
      await pause(1); // So that some claim begins at the right moment.
    }
    await replaced;
    const queues = await Promise.all(claims);
    const { leaseToken } = await db.queue(id);
    const holder = queues.find((queue) => queue?.token === leaseToken);
    if (holder) expect(holder.target?.webhook?.url).toBe(url);
    await prisma.eventLane.update({
      where: { destinationId: id },
      data: afresh,
    });
  }
});

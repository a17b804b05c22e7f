// `npm run soak -- badday`: one round of each fault on both databases, beside visitors, agents and API clients.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onServer } from '../../support/gateway/place.ts';
import { residentMemory } from '../../support/load/honest-world.ts';
import { type Day, openDay } from './day.ts';
import { faults } from './faults.ts';

const TEST_MS = 180_000;

describe(onServer ? 'on a PostgreSQL server' : 'on the embedded database', () => {
  let day: Day;
  beforeAll(async () => {
    day = await openDay({ DRAIN_MS: '5000' });
    await day.recovered(performance.now(), TEST_MS); // What is made on first use is there.
  }, TEST_MS);
  afterAll(() => day?.close(), TEST_MS);

  const possible = Object.entries(faults).filter(([, { database }]) => onServer || database === 'any');
  test.for(possible)('%s', { timeout: TEST_MS }, async ([name, fault]) => {
    const { pid } = day.gateway();
    const begun = performance.now();
    let isUp = true;
    day.gateway().exited.then(() => {
      isUp = false;
    });
    try {
      await fault.happen(day);
    } catch (error) {
      await day.heal(); // The next fault finds all as it should be.
      if (!isUp) await day.restart();
      throw error;
    }
    const over = performance.now();
    const recovery = await day.recovered(over, 60_000);
    const failed = [...day.clients.samples].map(([kind, outcomes]) => {
      const { length } = outcomes.since(begun).filter(({ failure }) => failure !== undefined);
      return [kind, length] as const;
    });
    const longest = Math.max(...recovery.values());
    process.stdout.write(
      [
        `${onServer ? 'server' : 'embedded'}: ${name}: ${Math.round(over - begun)} ms long, well again after ${Math.round(longest)} ms`,
        `  recovery, ms: ${[...recovery].map(([kind, ms]) => `${kind} ${Math.round(ms)}`).join(', ')}`,
        `  failed: ${failed.map(([kind, count]) => `${kind} ${count}`).join(', ')}; ${day.clients.acknowledged.length} writes acknowledged; ${Math.round(residentMemory(day.gateway().pid))} MB`,
        '',
      ].join('\n'),
    );
    if (!fault.ends) expect(day.gateway().pid).toBe(pid);
    expect(await missing(day)).toEqual([]);
    expect.soft(longest).toBeLessThanOrEqual(fault.recoversMs);
  });
});

/** What was acknowledged and is not there. */
async function missing({ clients, gateway }: Day): Promise<string[]> {
  const acknowledged = [...clients.acknowledged];
  const found = new Set<string>();
  const { call } = gateway();
  for (let path: string | null = '/bot_users?limit=100'; path !== null; ) {
    const { body } = await call('GET', path);
    for (const { id } of body.bot_users) found.add(id);
    path = body.next_page_uri && new URL(body.next_page_uri).pathname + new URL(body.next_page_uri).search;
  }
  return acknowledged.filter((id) => !found.has(id));
}

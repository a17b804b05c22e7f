// `npm run soak -- upgrade`: UPGRADES (20) upgrades under 64 connections, 200 WebSockets, 100 event streams and 200 agents, of which
// 20 are programs with an SDK. Then as many with little going on, and what the primary holds after them.

import { expect, test } from 'vitest';
import { startUpgradeLab } from '../support/upgrade/lab.ts';

const UPGRADES = Number(process.env.UPGRADES || 20);
/** How long each connection waits between two visits: 0 fills both cores of a small machine, and an upgrade shares them. */
const PAUSE_MS = Number(process.env.PAUSE_MS || 0);
/** So many visits are between two upgrades. */
const VISITS = 3000;
const LIMITS = { apiMs: 1500, sdkAwayMs: 100 };

test(`${UPGRADES} upgrades`, { timeout: UPGRADES * 120_000 }, async () => {
  const lab = await startUpgradeLab({
    ...{ agents: 180, sdkAgents: 20, connections: 64, webSockets: 200, eventStreams: 100, pauseMs: PAUSE_MS },
    env: { MAX_SESSIONS_PER_ACCOUNT: '1000' },
  });
  const waits: number[] = [];
  try {
    await lab.load.more(VISITS);
    for (let round = 0; round < UPGRADES; round++) {
      waits.push(await lab.upgrade());
      await lab.load.more(VISITS);
    }
  } finally {
    const { visits, longestMs, apiCalls, apiMaxMs } = lab.load;
    const longestTo = (agents: string) =>
      spread([...longestMs].flatMap(([name, ms]) => (name.startsWith(agents) ? [ms] : [])));
    const { failures, code } = await lab.end();
    const away = lab.sdkAwayMs();
    process.stdout.write(
      [
        `${waits.length} upgrades, ${visits} visits, ${apiCalls} API calls`,
        `failures: ${JSON.stringify(failures)}`,
        `control process replaced within ${spread(waits)} ms; longest API call ${Math.round(apiMaxMs)} ms`,
        `longest visit to each agent of ours ${longestTo('own')} ms, with an SDK ${longestTo('sdk')} ms (least / median / most)`,
        `agents of ours were ${[...lab.ownStates()].join(', ')}`,
        `agents with an SDK moved ${away.length} times, away ${spread(away)} ms (least / median / most)`,
        '',
      ].join('\n'),
    );
    expect(code).toBe(0);
    expect(failures).toEqual({});
    expect(lab.ownStates()).toEqual(new Set(['online']));
  }
  expect.soft(Math.max(...waits), 'API calls wait').toBeLessThanOrEqual(LIMITS.apiMs);
  expect.soft(Math.max(...lab.sdkAwayMs()), 'an SDK agent is away').toBeLessThanOrEqual(LIMITS.sdkAwayMs);
});

test(`the primary holds nothing more after ${UPGRADES} upgrades`, { timeout: UPGRADES * 120_000 }, async () => {
  const lab = await startUpgradeLab({
    ...{ agents: 4, sdkAgents: 0, connections: 4, webSockets: 0, eventStreams: 0, pauseMs: 100 },
  });
  const seen = [];
  try {
    for (let round = 0; round < UPGRADES; round++) {
      await lab.upgrade();
      seen.push(await lab.primary());
    }
  } finally {
    for (const [index, { resources, listeners, descriptors, rss }] of seen.entries())
      if (index === 0 || (index + 1) % 10 === 0)
        process.stdout.write(
          `primary after ${index + 1}: ${descriptors} descriptors, ${Math.round(rss / 2 ** 20)} MB, ${JSON.stringify({ ...resources, listeners })}\n`,
        );
    process.stdout.write(`warnings: ${JSON.stringify(lab.warnings())}\n`);
    expect((await lab.end()).code).toBe(0);
  }
  const held = seen.map(({ resources, listeners, descriptors }) => ({ resources, listeners, descriptors }));
  expect(held.slice(0, 5)).toContainEqual(held.at(-1));
  expect(lab.warnings()).toEqual([]);
});

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b).map(Math.round);
  return `${sorted[0]} / ${sorted[Math.floor(sorted.length / 2)]} / ${sorted.at(-1)}`;
}

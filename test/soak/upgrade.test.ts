// `npm run soak -- upgrade`: UPGRADES (20) upgrades under 64 connections, 200 WebSockets, 100 event streams and 200 agents, of which
// 20 are programs with an SDK.

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

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b).map(Math.round);
  return `${sorted[0]} / ${sorted[Math.floor(sorted.length / 2)]} / ${sorted.at(-1)}`;
}

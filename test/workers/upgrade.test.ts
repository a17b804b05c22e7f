// Upgrades under load, shortened; `npm run soak -- long` has one that begins while agents move, and `npm run soak -- upgrade` has more of
// everything.

import { expect, test } from 'vitest';
import { shortened } from '../support/shortened.ts';
import { startUpgradeLab } from '../support/upgrade/lab.ts';

/** Upgrades after the first. */
const FURTHER = shortened([1, 2]).length;

test('an upgrade refuses, fails and cuts nothing: visits, WebSockets, event streams and API calls go on, and agents move', {
  timeout: 180_000,
}, async () => {
  const lab = await startUpgradeLab({
    agents: 5,
    sdkAgents: 16,
    connections: 8,
    webSockets: 6,
    eventStreams: 4,
    pauseMs: 60,
  });
  const sessions = async () => {
    const { body } = await lab.gateway.call('GET', '/tunnel_sessions');
    return (body as { tunnel_sessions: { id: string }[] }).tunnel_sessions.map(({ id }) => id);
  };
  try {
    const before = await sessions();
    expect(before).toHaveLength(21);
    await lab.load.more(200);
    expect(await lab.upgradeByTool()).toContain('The new processes serve');
    // Two agents of ours and four with an SDK have long streams; ours have a new session beside the one that finishes these.
    await expect.poll(async () => (await sessions()).filter((id) => before.includes(id))).toHaveLength(6);
    await expect.poll(sessions).toHaveLength(23);
    for (let further = 0; further < FURTHER; further++) {
      const moved = lab.sdkAwayMs().length;
      await lab.upgrade();
      // The next one begins while agents move. They stay meanwhile: workers that start do not hear that visitors have to wait.
      if (further < FURTHER - 1) await expect.poll(() => lab.sdkAwayMs().length).toBeGreaterThan(moved);
    }
    await lab.load.more(200);
    await expect.poll(async () => (await sessions()).filter((id) => before.includes(id))).toHaveLength(6);
    await expect.poll(sessions).toHaveLength(23);
  } finally {
    const { failures, code } = await lab.end();
    expect(failures).toEqual({});
    expect(code).toBe(0);
  }
  expect(lab.sdkMovesDuringUpgrades()).toBe(0);
  expect(lab.ownStates()).toEqual(new Set(['online']));
});

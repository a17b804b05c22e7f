// An upgrade under load, shortened; `npm run soak -- long` has three under more, of which the last begins while agents move, and
// `npm run soak -- upgrade` has more of everything.

import { expect, test } from 'vitest';
import { shortened } from '../support/shortened.ts';
import { type LabOptions, startUpgradeLab } from '../support/upgrade/lab.ts';

const few: LabOptions = {
  ...{ agents: 2, sdkAgents: 2, connections: 4, webSockets: 1, eventStreams: 1 },
  ...{ pauseMs: 150, apiPauseMs: 250 },
};
const many: LabOptions = { agents: 5, sdkAgents: 16, connections: 8, webSockets: 6, eventStreams: 4, pauseMs: 60 };

test.each(
  shortened([
    { load: few, visits: 20, upgrades: 1 },
    { load: many, visits: 200, upgrades: 3 },
  ]),
)(
  'an upgrade refuses, fails and cuts nothing: visits, WebSockets, event streams and API calls go on, and agents move; upgrades: $upgrades',
  {
    timeout: 180_000,
  },
  async ({ load, visits, upgrades }) => {
    const lab = await startUpgradeLab(load);
    const sessions = async () => {
      const { body } = await lab.gateway.call('GET', '/tunnel_sessions');
      return (body as { tunnel_sessions: { id: string }[] }).tunnel_sessions.map(({ id }) => id);
    };
    const agents = load.agents + load.sdkAgents;
    // Those have long streams; ours have a new session beside the one that finishes these.
    const streaming = Math.ceil(agents / 4);
    const ownStreaming = Math.ceil(load.agents / 4);
    const moved = async (before: string[]) => {
      await expect.poll(async () => (await sessions()).filter((id) => before.includes(id))).toHaveLength(streaming);
      await expect.poll(sessions).toHaveLength(agents + ownStreaming);
    };
    try {
      const before = await sessions();
      expect(before).toHaveLength(agents);
      await lab.load.more(visits);
      expect(await lab.upgradeByTool()).toContain('The new processes serve');
      await moved(before);
      for (let left = upgrades - 1; left > 0; left--) {
        const away = lab.sdkAwayMs().length;
        await lab.upgrade();
        // The next one begins while agents move. They stay meanwhile: workers that start do not hear that visitors have to wait.
        if (left > 1) await expect.poll(() => lab.sdkAwayMs().length).toBeGreaterThan(away);
      }
      await lab.load.more(visits);
      await moved(before);
    } finally {
      const { failures, code } = await lab.end();
      expect(failures).toEqual({});
      expect(code).toBe(0);
    }
    expect(lab.sdkMovesDuringUpgrades()).toBe(0);
    expect(lab.warnings()).toEqual([]);
    expect(lab.ownStates()).toEqual(new Set(['online']));
  },
);

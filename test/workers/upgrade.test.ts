// Upgrades under load; `npm run soak -- upgrade` has more of everything.

import { expect, test } from 'vitest';
import { startUpgradeLab } from '../support/upgrade/lab.ts';

test('an upgrade refuses, fails and cuts nothing: visits, WebSockets, event streams and API calls go on, and agents move', {
  timeout: 180_000,
}, async () => {
  const lab = await startUpgradeLab({
    agents: 5,
    sdkAgents: 3,
    connections: 8,
    webSockets: 6,
    eventStreams: 4,
    pauseMs: 20,
  });
  const sessions = async () => {
    const { body } = await lab.gateway.call('GET', '/tunnel_sessions');
    return (body as { tunnel_sessions: { id: string }[] }).tunnel_sessions.map(({ id }) => id);
  };
  try {
    const before = await sessions();
    expect(before).toHaveLength(8);
    await lab.load.more(200);
    expect(await lab.upgradeByTool()).toContain('The new processes serve');
    // Three quarters of the agents have no long streams.
    await expect.poll(async () => (await sessions()).filter((id) => before.includes(id))).toHaveLength(2);
    await expect.poll(sessions).toHaveLength(8);
    await lab.upgrade();
    await lab.load.more(200);
    await expect.poll(sessions).toHaveLength(8);
  } finally {
    const { failures, code } = await lab.end();
    expect(failures).toEqual({});
    expect(code).toBe(0);
  }
  expect(lab.sdkAwayMs().length).toBeGreaterThan(0);
});

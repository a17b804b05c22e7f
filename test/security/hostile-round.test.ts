// A short round of `npm run soak -- hostile`: all attacks at once for some seconds, beside honest clients.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildAttacker } from '../soak/hostile/attackers.ts';
import { attacks } from '../soak/hostile/attacks/index.ts';
import { type Lab, openLab } from '../soak/hostile/lab.ts';
import { playRound } from '../soak/hostile/round.ts';

let lab: Lab;
beforeAll(async () => {
  await buildAttacker();
  lab = await openLab();
}, 60_000);
afterAll(() => lab?.close());

test('under every attack at once, honest clients get what they ask for, and nothing is met that nobody expected', {
  timeout: 120_000,
}, async () => {
  const slugs = Object.keys(attacks);
  const { phases, failures } = await playRound(lab, {
    quiet: 200,
    each: 0,
    together: 500,
    attacks: [],
    groups: [slugs],
    // A busy machine is no attack.
    patienceMs: 45_000,
    // Attackers that come behind all others take too long to begin and to end there.
    priority: 0,
    onPhase() {},
  });
  expect(failures).toEqual([]);
  const [, together] = phases;
  expect(Object.entries(together?.counts ?? {}).filter(([, counts]) => counts.crashed)).toEqual([]);
  expect(Object.keys(together?.counts ?? {})).toEqual(slugs);
  for (const [kind, { count }] of together?.figures ?? []) expect([kind, count]).not.toEqual([kind, 0]);
  const metrics = await (await fetch(`${lab.gateway.admin}/metrics`)).text();
  expect(metrics).toMatch(/^gateway_defects_total 0$/m);
});

// `npm run soak -- hostile`: every attack of strangers and tenants for ten minutes beside honest clients.
//
//   HOSTILE_ONLY=a,b     only these attacks
//   HOSTILE_SECONDS=600  of attacks, all phases together

import { constants } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildAttacker } from './attackers.ts';
import { attacks } from './attacks/index.ts';
import { type Lab, openLab } from './lab.ts';
import { describePhase, failedOf, longestRatio, visitsRatio } from './report.ts';
import { playRound } from './round.ts';

const SECONDS = Number(process.env.HOSTILE_SECONDS ?? 600);
const slugs = process.env.HOSTILE_ONLY?.split(',') ?? Object.keys(attacks);
/** A tenth of the time belongs to all attacks at once. */
const TOGETHER = slugs.length > 1 ? 0.1 * SECONDS * 1000 : 0;
const EACH = (SECONDS * 1000 - TOGETHER) / slugs.length;
/** At least as long as an attack: the longest of few waits says nothing about the longest of many. */
const QUIET = Math.max(EACH, Math.min(60_000, SECONDS * 100));
/** Under these, the 95th percentile of visits may be so many times the quiet one. */
const MEASURED = ['aliased-introspection', 'unread-answers', 'agent-preauth', 'expensive-fields', 'forbidden-binds'];
const P95_RATIO = 2;
const LONGEST_RATIO = 3;
/** Beside one stranger who sends costly ClientHellos, an honest handshake may take so many times the quiet median. */
const MEDIAN_RATIO = 3;
/** The honest clients that have a new connection for each visit. */
const HANDSHAKES = 'new connection';

let lab: Lab;
beforeAll(async () => {
  await buildAttacker();
  lab = await openLab();
}, 120_000);
afterAll(() => lab.close());

test('no honest client fails, and none waits three times as long as in quiet', { timeout: 3_600_000 }, async () => {
  const { phases, failures } = await playRound(lab, {
    quiet: QUIET,
    each: EACH,
    together: TOGETHER,
    attacks: slugs,
    groups: slugs.map((slug) => [slug]),
    // An attacker has a machine of his own: what he computes on this one is not what the gateway is measured by.
    priority: constants.priority.PRIORITY_LOW,
    onPhase: (phase, quiet) => process.stdout.write(`${describePhase(phase, quiet)}\n`),
  });
  const [quiet, ...hostile] = phases;
  if (!quiet) throw new Error('there was no quiet phase');
  expect(failures).toEqual([]);
  expect(hostile.filter((phase) => failedOf(phase) > 0).map(({ name }) => name)).toEqual([]);
  const crashed = hostile.flatMap(({ counts }) => Object.entries(counts).filter(([, found]) => found.crashed));
  expect(crashed.map(([slug]) => slug)).toEqual([]);
  const slow = hostile
    .filter(({ name }) => MEASURED.includes(name))
    .map((phase) => [phase.name, visitsRatio(phase, quiet)]);
  expect.soft(slow.filter(([, ratio]) => Number(ratio) > P95_RATIO)).toEqual([]);
  const handshakes = hostile
    .filter(({ name }) => name === 'costly-hellos')
    .map(
      ({ figures }) =>
        (figures.get(HANDSHAKES)?.p50 ?? Number.NaN) / (quiet.figures.get(HANDSHAKES)?.p50 ?? Number.NaN),
    );
  expect.soft(handshakes.filter((ratio) => !(ratio <= MEDIAN_RATIO))).toEqual([]);
  const waits = hostile.map((phase) => [phase.name, longestRatio(phase, quiet)]);
  expect.soft(waits.filter(([, ratio]) => Number(ratio) > LONGEST_RATIO)).toEqual([]);
});

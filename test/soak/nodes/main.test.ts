// `npm run soak -- nodes`: three gateways on a PostgreSQL server, with each fault twenty times (NODES_ROUNDS) beside visitors at
// random nodes and agents that stay, come and go. NODES_BUS=nats or redis puts that bus between them (TEST_NATS_URL,
// TEST_REDIS_URL). NODES_ONLY=a,b chooses faults by a part of their names; NODES_VISITORS (6) says how many visitors there are,
// NODES_AWAY_MS for how long the database is away (four leases).

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testBuses } from '../../support/buses.ts';
import { onServer } from '../../support/gateway/place.ts';
import { faults } from '../../support/nodes/faults.ts';
import { type Round, type Rounds, startRounds } from '../../support/nodes/rounds.ts';

const ROUNDS = Number(process.env.NODES_ROUNDS || 20);
const ONLY = (process.env.NODES_ONLY || '').split(',').filter(Boolean);
const VISITORS = Number(process.env.NODES_VISITORS || 6);
const ROUND_MS = 180_000;

const BUS = process.env.NODES_BUS || '';
const bus = testBuses.find(({ name, isThere }) => name === BUS && isThere);
if (BUS && !bus) throw new Error(`NODES_BUS is "${BUS}": it has to be nats or redis, and a server has to answer`);

const names = Object.entries(faults)
  .filter(
    ([name, { needsBus }]) => (bus || !needsBus) && (ONLY.length === 0 || ONLY.some((part) => name.includes(part))),
  )
  .map(([name]) => name);

describe.runIf(onServer)(`three gateways, changes by ${BUS || 'PostgreSQL'}, ${ROUNDS} rounds`, () => {
  let rounds: Rounds;
  beforeAll(async () => {
    rounds = await startRounds({ bus, visitors: { count: VISITORS, pauseMs: 2 } });
  }, ROUND_MS);
  afterAll(() => rounds?.close(), ROUND_MS);

  test.for(names)('%s', { timeout: ROUNDS * ROUND_MS }, async (name) => {
    const all: Round[] = [];
    for (let index = 0; index < ROUNDS; index++) all.push(await rounds.run(name));
    print(name, all);
    const [{ fault }] = all as [Round];
    expect(all.flatMap(({ misrouted }) => misrouted)).toEqual([]);
    const last = all.map(({ lastFailureMs }) => lastFailureMs[fault.settles.after]);
    expect.soft(Math.max(...last), 'the last failure').toBeLessThanOrEqual(fault.settles.ms);
    const lastOfLegs = all.map(({ lastLegsFailureMs }) => lastLegsFailureMs);
    expect
      .soft(Math.max(...lastOfLegs), 'with two legs')
      .toBeLessThanOrEqual(fault.legsSettleMs ?? Number.POSITIVE_INFINITY);
    // A fault that has hit no agent proves nothing.
    if (fault.endsSessions) expect(Math.max(...all.map(({ sessionsEnded }) => sessionsEnded))).toBeGreaterThan(0);
    else expect(all.map(({ sessionsEnded }) => sessionsEnded)).toEqual(all.map(() => 0));
  });
});

function print(name: string, all: Round[]): void {
  const sum = (of: (round: Round) => number) => all.reduce((total, round) => total + of(round), 0);
  const spread = (of: (round: Round) => number) => {
    const sorted = all.map(of).sort((a, b) => a - b);
    return `${sorted[0]} / ${sorted[Math.floor(sorted.length / 2)]} / ${sorted.at(-1)}`;
  };
  const reasons = new Map<string, number>();
  for (const { failures } of all) for (const { why } of failures) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  process.stdout.write(
    [
      `${name}, ${all.length} rounds: ${sum(({ requests }) => requests)} requests, ${sum(({ misrouted }) => misrouted.length)} misrouted; least / median / most of a round:`,
      `  failed ${spread(({ failed }) => failed)}; last failure after the begin ${spread(({ lastFailureMs }) => lastFailureMs.begin)} ms, after the end ${spread(({ lastFailureMs }) => lastFailureMs.end)} ms; with two legs after the begin ${spread(({ lastLegsFailureMs }) => lastLegsFailureMs)} ms; sessions ended ${spread(({ sessionsEnded }) => sessionsEnded)}`,
      `  failures: ${[...reasons].map(([why, count]) => `${count} ${why}`).join(', ') || 'none'}`,
      '',
    ].join('\n'),
  );
}

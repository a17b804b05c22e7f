import { describe, expect, test } from 'vitest';
import { circuitBreaker, circuitBreakerDefaults } from '../../../src/edge/modules/circuit-breaker.ts';
import { CircuitBreaker, type CircuitBreakerOptions } from '../../../src/http/circuit-breaker.ts';
import type { BreakerTransition } from '../../../src/http/module.ts';
import { shortened } from '../../support/shortened.ts';
import { environmentOf, exchangeOf } from '../exchange-support.ts';
import { agree } from './circuit-breaker-model.ts';

const SETTINGS: CircuitBreakerOptions = {
  trippedMs: 10_000,
  windowMs: 10_000,
  numBuckets: 10,
  volumeThreshold: 4,
  errorThreshold: 0.5,
};

/** A breaker with a clock of its own. */
function trial(settings: Partial<CircuitBreakerOptions> = {}) {
  let now = 0;
  const breaker = new CircuitBreaker({ ...SETTINGS, ...settings }, () => now);
  const once = (outcome: number | 'failed' | 'unasked') => {
    const ticket = breaker.begin();
    if (ticket !== undefined) breaker.end(ticket, outcome);
    return ticket !== undefined;
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { breaker, once, pass, state: () => breaker.snapshot().state };
}

test.each(shortened([1_000, 10_000]))('a breaker does what its model does, in %i random sequences', (count) => {
  agree(count, Number(process.env.PROPERTY_SEED ?? 20261121));
});

test('it trips at the share, not above it, and not before the volume is there', () => {
  const { once, state, breaker } = trial();
  for (const outcome of [500, 'failed', 200] as const) once(outcome);
  expect(state()).toBe('closed');
  once(404);
  expect(breaker.snapshot()).toEqual({ state: 'open', requests: 4, failures: 2, openUntil: 10_000 });
  expect(breaker.begin()).toBeUndefined();
});

test('with a share of 0 it still takes one failure, and with a volume of 0 one request', () => {
  const { once, state } = trial({ errorThreshold: 0, volumeThreshold: 0 });
  for (let i = 0; i < 50; i++) once(200);
  expect(state()).toBe('closed');
  once(599);
  expect(state()).toBe('open');
});

test('a share that multiplied would be missed by rounding is met: 7 of 100 at 0.07', () => {
  const { once, state } = trial({ errorThreshold: 0.07, volumeThreshold: 100 });
  for (let i = 0; i < 99; i++) once(i < 7 ? 500 : 200);
  expect(state()).toBe('closed');
  once(200);
  expect(state()).toBe('open');
});

test('outcomes are forgotten bucket by bucket', () => {
  const { once, pass, breaker } = trial({ volumeThreshold: 100 });
  once(500);
  pass(1000);
  once(500);
  pass(8999);
  expect(breaker.snapshot().failures).toBe(2);
  pass(1);
  expect(breaker.snapshot().failures).toBe(1);
  pass(1000);
  expect(breaker.snapshot()).toMatchObject({ requests: 0, failures: 0 });
});

test('after a while one request is tried: success closes it with a clean sheet, failure opens it for as long again', () => {
  const { once, pass, breaker, state } = trial({ volumeThreshold: 1 });
  once(500);
  pass(9999);
  expect(breaker.begin()).toBeUndefined();
  pass(1);
  const ticket = breaker.begin();
  expect([breaker.begin(), state()]).toEqual([undefined, 'probing']);
  breaker.end(ticket as number, 502);
  expect(breaker.snapshot()).toMatchObject({ state: 'open', openUntil: 10_000 });
  pass(10_000);
  expect(once(200)).toBe(true);
  expect(breaker.snapshot()).toEqual({ state: 'closed', requests: 0, failures: 0, openUntil: undefined });
});

test('a trial whose visitor left gives its place to the next, at once', () => {
  const { once, pass, state } = trial({ volumeThreshold: 1 });
  once('failed');
  pass(10_000);
  expect(once('unasked')).toBe(true);
  expect(state()).toBe('open');
  expect(once(204)).toBe(true);
  expect(state()).toBe('closed');
});

test('as long as trials have no answer another one follows each time, and the first good answer closes', () => {
  const { once, pass, breaker, state } = trial({ volumeThreshold: 1 });
  once(500);
  const trials: number[] = [];
  for (let i = 0; i < 3; i++) {
    pass(9999);
    expect(breaker.begin()).toBeUndefined();
    pass(1);
    trials.push(breaker.begin() as number);
  }
  breaker.end(trials[1] as number, 'failed'); // Of a time that another trial says more of.
  expect([state(), breaker.begin()]).toEqual(['probing', undefined]);
  breaker.end(trials[0] as number, 200);
  expect(state()).toBe('closed');
  breaker.end(trials[2] as number, 500);
  expect(breaker.snapshot()).toMatchObject({ state: 'closed', requests: 0 });
});

test('requests whose bodies still come are tried in turns of their own, and hold up no other', () => {
  const { once, pass, breaker, state } = trial({ volumeThreshold: 1 });
  once(500);
  pass(10_000);
  const trickled = breaker.begin(true) as number;
  expect([trickled, breaker.begin(true), state()]).toEqual([expect.any(Number), undefined, 'open']);
  breaker.end(breaker.begin() as number, 200);
  expect(state()).toBe('closed');
  breaker.end(trickled, 500);
  expect(breaker.snapshot()).toMatchObject({ state: 'closed', requests: 0 });
  once(500);
  pass(10_000);
  breaker.end(breaker.begin(true) as number, 204);
  expect(state()).toBe('closed');
});

test('requests that began before it tripped do not count once it has, nor close it', () => {
  const { once, pass, breaker, state } = trial({ volumeThreshold: 1 });
  const early = [breaker.begin(), breaker.begin()] as number[];
  once(500);
  breaker.end(early[0] as number, 200);
  expect(breaker.snapshot()).toMatchObject({ state: 'open', requests: 1 });
  pass(10_000);
  breaker.begin();
  breaker.end(early[1] as number, 200);
  expect(state()).toBe('probing');
});

test('a visitor at an open breaker is turned away with 503, and told in how many seconds to try again', () => {
  const environment = environmentOf();
  const module = circuitBreaker({ ...circuitBreakerDefaults, volumeThreshold: 1 }, environment);
  const first = exchangeOf();
  expect(module.onRequest?.(first)).toBeUndefined();
  module.onOutcome?.(first, 500);
  environment.pass(1500);
  const second = exchangeOf();
  expect(module.onRequest?.(second)).toMatchObject({
    kind: 'refuse',
    error: 'circuitOpen',
    fields: [['Retry-After', '9']],
  });
  module.onOutcome?.(second, 'unasked'); // As a chain does that settles what it refused.
  expect(module.breaker.snapshot().state).toBe('open');
});

test('a hundred thousand breakers are cheap as long as nothing comes', () => {
  const now = () => 0;
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const [before, timersBefore] = [process.memoryUsage().heapUsed, timers()];
  const all = Array.from({ length: 100_000 }, () => new CircuitBreaker(SETTINGS, now));
  const each = (process.memoryUsage().heapUsed - before) / all.length;
  expect(each).toBeLessThan(500);
  expect(timers()).toBe(timersBefore);
  expect(all.at(-1)?.snapshot().state).toBe('closed');
});

describe('over several nodes', () => {
  /** Breakers of two nodes, with one clock. What each tells reaches the other as long as `isLinked`. */
  function two(settings: Partial<CircuitBreakerOptions> = {}) {
    let now = 0;
    const link = { isUp: true };
    const breakers: CircuitBreaker[] = [];
    for (const index of [0, 1]) {
      const other = () => (link.isUp ? breakers[1 - index] : undefined);
      const join = () => ({
        tell: (transition: BreakerTransition) => other()?.follow(transition),
        count: (hasFailed: boolean) => other()?.addOutcomes(1, hasFailed ? 1 : 0),
      });
      breakers.push(new CircuitBreaker({ ...SETTINGS, volumeThreshold: 1, ...settings }, () => now, join));
    }
    const [one, other] = breakers as [CircuitBreaker, CircuitBreaker];
    const states = () => [one.snapshot().state, other.snapshot().state];
    const pass = (ms: number) => {
      now += ms;
    };
    return { one, other, states, pass, link };
  }
  const fail = (breaker: CircuitBreaker) => breaker.end(breaker.begin() as number, 500);

  test('the node where it tripped makes the trial, and the other follows its outcome', () => {
    const { one, other, states, pass } = two();
    fail(one);
    expect(states()).toEqual(['open', 'open']);
    pass(10_000);
    expect(other.begin()).toBeUndefined();
    const ticket = one.begin() as number;
    expect(states()).toEqual(['probing', 'probing']);
    pass(1000);
    expect(other.begin()).toBeUndefined();
    one.end(ticket, 503);
    expect(states()).toEqual(['open', 'open']);
    pass(10_000);
    one.end(one.begin() as number, 200);
    expect(states()).toEqual(['closed', 'closed']);
  });

  test('the other tries by itself when the node has no visitor to try, and that one follows', () => {
    const { one, other, states, pass } = two();
    fail(one);
    pass(10_999);
    expect(other.begin()).toBeUndefined();
    pass(1);
    const ticket = other.begin() as number;
    expect(states()).toEqual(['probing', 'probing']);
    expect(one.begin()).toBeUndefined();
    other.end(ticket, 204);
    expect(states()).toEqual(['closed', 'closed']);
  });

  test('workers trip at the sum of what they have counted, forget it when they close, and each shows its own', () => {
    const { one, other, states, pass } = two({ volumeThreshold: 4 });
    for (const breaker of [one, other, one]) fail(breaker);
    expect(states()).toEqual(['closed', 'closed']);
    fail(other);
    expect(states()).toEqual(['open', 'open']);
    expect([one.snapshot().requests, other.snapshot().requests]).toEqual([2, 2]);
    pass(10_000);
    one.end((one.begin() ?? other.begin()) as number, 200);
    pass(1000);
    if (states().includes('open')) other.end(other.begin() as number, 200);
    for (const breaker of [one, other, one]) fail(breaker);
    expect(states()).toEqual(['closed', 'closed']);
    pass(10_000);
    fail(other);
    expect(states()).toEqual(['closed', 'closed']);
  });

  test('where nothing is heard, each tries by itself', () => {
    const { one, other, states, pass, link } = two();
    fail(one);
    link.isUp = false;
    pass(10_000);
    one.end(one.begin() as number, 200);
    expect(states()).toEqual(['closed', 'open']);
    pass(1000);
    other.end(other.begin() as number, 200);
    expect(states()).toEqual(['closed', 'closed']);
  });

  test('when both have tripped at once, both try, and neither takes the trial of the other for its own', () => {
    const { one, other, states, pass, link } = two();
    link.isUp = false;
    fail(one);
    fail(other);
    link.isUp = true;
    pass(10_000);
    const ticket = one.begin() as number;
    expect(states()).toEqual(['probing', 'probing']);
    other.follow({ state: 'open', forMs: 5000 });
    expect(other.begin()).toBeUndefined();
    one.end(ticket, 200);
    expect(states()).toEqual(['closed', 'closed']);
  });
});

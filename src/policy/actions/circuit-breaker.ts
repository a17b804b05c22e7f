// The action `circuit-breaker`: stops requests to an upstream that keeps failing.

import { CircuitBreaker, circuitOpenRefusal } from '../../http/circuit-breaker.ts';
import { joinBreakers } from '../../http/shared-state.ts';
import type { ActionKind, ConfigReader } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';

const SPAN = { min: 1000, max: 120_000, default: 10_000 };
const SHARE = { min: 0, max: 1, default: 0.5 };

export const circuitBreakerAction: ActionKind = {
  type: 'circuit-breaker',
  phases: ['on_http_request'],
  // `rolling_window` and `error_threshold_percentage` are the names that the edge module has for these members.
  members: [
    'error_threshold',
    'volume_threshold',
    'window_duration',
    'tripped_duration',
    'num_buckets',
    'enforce',
    'rolling_window',
    'error_threshold_percentage',
  ],
  compile(config) {
    const { environment, owner, place } = config;
    const settings = {
      trippedMs: config.duration('tripped_duration', SPAN),
      windowMs: config.duration(usedName(config, 'window_duration', 'rolling_window'), SPAN),
      numBuckets: config.integer('num_buckets', { min: 1, max: 128, default: 10 }),
      volumeThreshold: config.integer('volume_threshold', { min: 0, max: 1_000_000, default: 10 }),
      errorThreshold: config.number(usedName(config, 'error_threshold', 'error_threshold_percentage'), SHARE),
    };
    const join = joinBreakers({ owner, environment, place, settings });
    const breaker = new CircuitBreaker(settings, () => environment.now(), join);
    const enforce = config.flag('enforce', true);
    return {
      isTerminal: false,
      run({ exchange }) {
        const ticket = breaker.begin(exchange?.request.hasBodyToCome);
        if (ticket !== undefined) exchange?.memory.set(breaker, ticket);
        return ticket === undefined && enforce ? circuitOpenRefusal(breaker) : undefined;
      },
      onOutcome(exchange, outcome) {
        const ticket = exchange.memory.get(breaker);
        if (ticket !== undefined) breaker.end(ticket as number, outcome);
      },
    };
  },
};

/** The name that the config uses of a member with two names. */
function usedName(config: ConfigReader, name: string, other: string): string {
  if (!config.has(other)) return name;
  if (config.has(name)) config.problem(other, PROBLEM.duplicate, `is another name of ${name}: give one of them`);
  return other;
}

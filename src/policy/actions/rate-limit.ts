// The action `rate-limit`: limits the requests in a sliding window, by the keys of the policy.

import { sharedLimit } from '../../http/shared-state.ts';
import type { Expression } from '../cel/expression.ts';
import { RateLimiter } from '../rate-limiter.ts';
import { toJsonValue } from '../run/json-value.ts';
import type { ActionKind, ActionVerdict, ConfigReader } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';

const NAME_MAX = 1023;
const KEYS_MAX = 10;
const STEP_MS = 10_000;
const RATE = { min: 60_000, max: 24 * 3_600_000 };

export const rateLimitAction: ActionKind = {
  type: 'rate-limit',
  phases: ['on_http_request'],
  members: ['name', 'algorithm', 'capacity', 'rate', 'bucket_key', 'enforce'],
  result: 'rate_limit',
  compile(config) {
    const name = config.text('name', { max: NAME_MAX });
    if (config.raw('algorithm') !== 'sliding_window')
      config.problem('algorithm', PROBLEM.algorithm, 'must be "sliding_window"');
    const capacity = config.integer('capacity', { min: 1, max: 2_000_000_000 });
    const windowMs = config.duration('rate', RATE);
    if (windowMs % STEP_MS !== 0)
      config.problem('rate', PROBLEM.duration, 'must be a multiple of 10 seconds, such as "60s" or "90s"');
    const keys = keysOf(config);
    const enforce = config.flag('enforce', true);
    const { environment, owner, place } = config;
    const limit = { capacity, windowMs };
    const settings = [name, limit, config.raw('bucket_key')];
    const takeShared = sharedLimit({ owner, environment, place, settings }, limit);
    const limiter = new RateLimiter(limit, () => environment.now());
    return {
      isTerminal: false,
      run({ bindings, result }) {
        const key = JSON.stringify(keys.map((expression) => toJsonValue(expression.evaluate(bindings))));
        const decide = (wait: number): ActionVerdict => {
          result('rate_limit', { bucket_key: key, limited: wait > 0 });
          if (wait === 0 || !enforce) return undefined;
          const seconds = Math.max(1, Math.ceil(wait / 1000));
          return {
            kind: 'refuse',
            error: 'rateLimited',
            fields: [['Retry-After', String(seconds)]],
            reason: `more than ${capacity} requests in ${windowMs / 1000} s for ${name}`,
          };
        };
        const wait = takeShared?.(key) ?? limiter.take(key);
        return wait instanceof Promise ? wait.then(decide) : decide(wait);
      },
    };
  },
};

function keysOf(config: ConfigReader): Expression[] {
  return config
    .texts('bucket_key', { min: 1, max: KEYS_MAX })
    .map((text, i) => config.expression(`bucket_key[${i}]`, text));
}

// The circuit breaker of a route or a tunnel (specification section 2.3).

import { CircuitBreaker, circuitOpenRefusal } from '../../http/circuit-breaker.ts';
import type { HttpExchange } from '../../http/exchange.ts';
import type { HttpModule, ModuleEnvironment, ModuleOwner, UpstreamOutcome, Verdict } from '../../http/module.ts';
import { decisionReport } from '../../http/module-report.ts';
import { joinBreakers } from '../../http/shared-state.ts';
import type { ModuleDescriptor, ModuleSettings } from './descriptor.ts';
import { SettingsError } from './settings-error.ts';

export interface CircuitBreakerSettings extends ModuleSettings {
  /** Seconds. */
  trippedDuration: number;
  /** Seconds. */
  rollingWindow: number;
  /** 1 to 128. */
  numBuckets: number;
  /** Requests in a window. */
  volumeThreshold: number;
  /** From 0 to 1, whatever its name says. */
  errorThresholdPercentage: number;
}

export const NUM_BUCKETS_MAX = 128;

export const circuitBreakerDefaults: CircuitBreakerSettings = {
  enabled: true,
  trippedDuration: 10,
  rollingWindow: 10,
  numBuckets: 10,
  volumeThreshold: 20,
  errorThresholdPercentage: 0.5,
};

type Decision = 'allow' | 'block' | 'allow_while_open';

const report = decisionReport<Decision>(
  'circuit_breaker',
  'What the circuit breaker decided: "allow", "block" or "allow_while_open".',
);

export const circuitBreakerModule: ModuleDescriptor<CircuitBreakerSettings> = {
  key: 'circuitBreaker',
  phase: 'upstream',
  isStateful: true,
  create(settings, owner, environment) {
    const http = circuitBreaker(settings, environment, owner);
    return { http, breaker: http.breaker };
  },
  report,
  bindOption: {
    names: ['CircuitBreaker'],
    scope: 'http',
    read(options, name) {
      const share = options.fields(name).number('error_threshold');
      if (!(share >= 0 && share <= 1)) throw new SettingsError('error_threshold must be from 0 to 1');
      return { ...circuitBreakerDefaults, errorThresholdPercentage: share };
    },
  },
};

/** The module of routes and tunnels. While it is open, visitors get a 503 with `Retry-After`. */
export function circuitBreaker(
  settings: CircuitBreakerSettings,
  environment: Pick<ModuleEnvironment, 'now' | 'shared'>,
  owner: Pick<ModuleOwner, 'scope'> = {},
): HttpModule & { readonly breaker: CircuitBreaker } {
  const breaker = new CircuitBreaker(
    {
      trippedMs: settings.trippedDuration * 1000,
      windowMs: settings.rollingWindow * 1000,
      numBuckets: settings.numBuckets,
      volumeThreshold: settings.volumeThreshold,
      errorThreshold: settings.errorThresholdPercentage,
    },
    () => environment.now(),
    joinBreakers({ owner, environment, place: circuitBreakerModule.key, settings }),
  );
  return {
    name: 'circuit_breaker',
    breaker,
    onRequest(exchange: HttpExchange): Verdict {
      const ticket = breaker.begin(exchange.request.hasBodyToCome);
      report.note(exchange.decisions, decisionOf(breaker, ticket));
      if (ticket === undefined) return circuitOpenRefusal(breaker);
      exchange.memory.set(breaker, ticket);
      return undefined;
    },
    onOutcome(exchange: HttpExchange, outcome: UpstreamOutcome): void {
      const ticket = exchange.memory.get(breaker);
      if (ticket !== undefined) breaker.end(ticket as number, outcome);
    },
  };
}

function decisionOf(breaker: CircuitBreaker, ticket: number | undefined): Decision {
  if (ticket === undefined) return 'block';
  return breaker.isClosed ? 'allow' : 'allow_while_open';
}

// The circuit breaker module of a route (specification sections 2.3 and 4.3).

import {
  type CircuitBreakerSettings,
  circuitBreakerDefaults,
  circuitBreakerModule,
  NUM_BUCKETS_MAX,
} from '../../edge/modules/circuit-breaker.ts';
import { builder } from '../builder/builder.ts';
import { ApiError } from '../errors/errors.ts';
import { checkAll } from '../errors/problems.ts';
import { httpsEdgeRoute } from './hosts.ts';
import { type ApiModule, storedUnder } from './module.ts';

const text = {
  enabled: 'Whether it acts on traffic.',
  trippedDuration: 'Seconds to wait, once tripped, before the upstream is tried again.',
  rollingWindow: 'Seconds of the rolling window in which requests are counted.',
  numBuckets: 'How many buckets the window is counted in; 1 to 128.',
  volumeThreshold: 'How many requests a window must have before the circuit can trip.',
  errorThresholdPercentage: 'The share of failed requests at which the circuit trips: from 0 to 1, not to 100.',
};

const CircuitBreaker = builder.objectRef<CircuitBreakerSettings>('CircuitBreaker').implement({
  description: 'Stops sending requests to an upstream that keeps failing, until it has recovered.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: text.enabled }),
    trippedDuration: t.expose('trippedDuration', { type: 'UInt32', description: text.trippedDuration }),
    rollingWindow: t.expose('rollingWindow', { type: 'UInt32', description: text.rollingWindow }),
    numBuckets: t.expose('numBuckets', { type: 'UInt32', description: text.numBuckets }),
    volumeThreshold: t.expose('volumeThreshold', { type: 'UInt32', description: text.volumeThreshold }),
    errorThresholdPercentage: t.exposeFloat('errorThresholdPercentage', { description: text.errorThresholdPercentage }),
  }),
});

const CircuitBreakerInput = builder.inputType('CircuitBreakerInput', {
  description: 'A circuit breaker. Every member may be left out and has then its default.',
  fields: (t) => ({
    enabled: t.boolean({ description: `${text.enabled} Default true.` }),
    trippedDuration: t.field({ type: 'UInt32', description: `${text.trippedDuration} At least 1; default 10.` }),
    rollingWindow: t.field({ type: 'UInt32', description: `${text.rollingWindow} At least 1; default 10.` }),
    numBuckets: t.field({ type: 'UInt32', description: `${text.numBuckets} Default 10.` }),
    volumeThreshold: t.field({ type: 'UInt32', description: `${text.volumeThreshold} Default 20.` }),
    errorThresholdPercentage: t.float({ description: `${text.errorThresholdPercentage} Default 0.5.` }),
  }),
});

type Input = typeof CircuitBreakerInput.$inferInput;

function check(input: Input, member: string): CircuitBreakerSettings {
  const settings = { ...circuitBreakerDefaults };
  for (const [name, value] of Object.entries(input)) if (value != null) Object.assign(settings, { [name]: value });
  const { trippedDuration, rollingWindow, numBuckets, errorThresholdPercentage: share } = settings;
  checkAll({
    trippedDuration() {
      if (trippedDuration < 1) throw new ApiError('trippedDurationRange', { member: `${member}trippedDuration` });
    },
    rollingWindow() {
      if (rollingWindow < 1) throw new ApiError('rollingWindowRange', { member: `${member}rollingWindow` });
    },
    numBuckets() {
      if (numBuckets < 1 || numBuckets > NUM_BUCKETS_MAX)
        throw new ApiError('numBucketsRange', { member: `${member}numBuckets` });
    },
    errorThresholdPercentage() {
      if (!(share >= 0 && share <= 1))
        throw new ApiError('errorShareRange', { member: `${member}errorThresholdPercentage` });
    },
  });
  return settings;
}

export const circuitBreaker: ApiModule<{ modules: unknown }, CircuitBreakerSettings, Input> = {
  host: httpsEdgeRoute,
  ...storedUnder(circuitBreakerModule),
  noun: 'circuit breaker',
  type: CircuitBreaker,
  input: CircuitBreakerInput,
  selection: 'enabled trippedDuration rollingWindow numBuckets volumeThreshold errorThresholdPercentage',
  write: (input, { member }) => ({ modules: { [circuitBreakerModule.key]: check(input, member) } }),
};

// The circuit breaker of a route: its settings (specification section 2.3).

export interface CircuitBreakerSettings {
  enabled: boolean;
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

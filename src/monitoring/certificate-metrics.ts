// Prometheus metrics of the certificates that the gateway obtains. Domains are not labels: the API shows those.

import type { Registry } from 'prom-client';
import { certificateStates } from '../store/certificates/certificate-states.ts';
import type { PrismaClient } from '../store/database/client.ts';
import { type LabelledValue, metricsFor } from './metrics.ts';

/** Registers the metrics. Every node has the same values: they are read from the database. */
export function certificateMetrics(registry: Registry, prisma: PrismaClient): void {
  const { gauge, gauges } = metricsFor(registry);
  gauges(
    'gateway_managed_certificates',
    'Certificates that are obtained and renewed, by their state.',
    ['state'],
    async () => (await certificateStates(prisma)).map(({ state, count }): LabelledValue => [{ state }, count]),
  );
  gauge(
    'gateway_managed_certificates_days_left',
    'Days until the first certificate in force expires that is renewed by itself.',
    async () => {
      const states = await certificateStates(prisma);
      return Math.min(...states.map(({ daysLeft }) => daysLeft ?? Number.POSITIVE_INFINITY));
    },
  );
}

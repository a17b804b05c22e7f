// Two who hear of traffic: whoever takes all that passes, and captures. Each hears what it wants, and nothing for the other.

import type { TrafficReporter } from '../edge/traffic-reports.ts';
import type { Captures } from './captures.ts';

export function joinedReporter(reporter: TrafficReporter, captures: Captures): TrafficReporter {
  return {
    hearsRequests: (accountId, endpointId) => captures.has(endpointId) || reporter.hearsRequests(accountId, endpointId),
    hearsConnections: (accountId) => reporter.hearsConnections(accountId),
    observe: (endpointId) => captures.observe(endpointId),
    request(report) {
      try {
        captures.take(report);
      } finally {
        if (reporter.hearsRequests(report.accountId, report.endpointId)) reporter.request(report);
      }
    },
    connection: (report) => reporter.connection(report),
  };
}

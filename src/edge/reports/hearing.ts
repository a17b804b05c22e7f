// Calls of the reporter: what it throws is its own trouble, and never a visitor's.

import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { ConnectionReport, RequestObserver, RequestReport } from '../traffic-reports.ts';
import type { VisitServices } from '../visits/services.ts';

/** Whether anybody wants to hear of a request: all that it costs where nobody does. */
export function hearsRequests(services: VisitServices, { accountId, id }: LiveEndpoint): boolean {
  try {
    return services.reporter.hearsRequests(accountId, id);
  } catch (error) {
    return failed(services, error);
  }
}

export function hearsConnections(services: VisitServices, accountId: string): boolean {
  try {
    return services.reporter.hearsConnections(accountId);
  } catch (error) {
    return failed(services, error);
  }
}

/** Where more is to be noted of a request than reports have. */
export function observerOf(services: VisitServices, endpointId: string): RequestObserver | undefined {
  try {
    return services.reporter.observe?.(endpointId);
  } catch (error) {
    failed(services, error);
    return undefined;
  }
}

export function giveRequest(services: VisitServices, report: RequestReport): void {
  try {
    services.reporter.request(report);
  } catch (error) {
    failed(services, error);
  }
}

export function giveConnection(services: VisitServices, report: ConnectionReport): void {
  try {
    services.reporter.connection(report);
  } catch (error) {
    failed(services, error);
  }
}

function failed(services: VisitServices, error: unknown): false {
  services.failed(error, services.newOperationId());
  return false;
}

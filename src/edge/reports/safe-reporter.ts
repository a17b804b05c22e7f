// Calls of the reporter: what it throws is its own trouble, and never a visitor's.

import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { ConnectionReport, RequestObserver, RequestReport, TrafficReporter } from './traffic-reports.ts';

/** What reports need of the rest of the gateway. */
export interface ReportingServices {
  /** The wall clock, in milliseconds. */
  time(): number;
  newOperationId(): string;
  /** Logs an unexpected error. The visitor gets to know no more than the id of the operation. */
  logFailure(error: unknown, operationId: string): void;
  readonly reporter: TrafficReporter;
}

/** Whether a request is to be reported: the only cost where it is not. */
export function wantsRequests(services: ReportingServices, { accountId, id }: LiveEndpoint): boolean {
  try {
    return services.reporter.wantsRequests(accountId, id);
  } catch (error) {
    return failed(services, error);
  }
}

export function wantsConnections(services: ReportingServices, accountId: string): boolean {
  try {
    return services.reporter.wantsConnections(accountId);
  } catch (error) {
    return failed(services, error);
  }
}

/** Where more is to be noted of a request than reports have. */
export function observerOf(services: ReportingServices, endpointId: string): RequestObserver | undefined {
  try {
    return services.reporter.observe?.(endpointId);
  } catch (error) {
    failed(services, error);
    return undefined;
  }
}

export function reportRequest(services: ReportingServices, report: RequestReport): void {
  try {
    services.reporter.request(report);
  } catch (error) {
    failed(services, error);
  }
}

export function reportConnection(services: ReportingServices, report: ConnectionReport): void {
  try {
    services.reporter.connection(report);
  } catch (error) {
    failed(services, error);
  }
}

function failed(services: ReportingServices, error: unknown): false {
  services.logFailure(error, services.newOperationId());
  return false;
}

// Calls of the reporter: what it throws is its own trouble, and never a visitor's.

import type {
  ConnectionReport,
  ReportedEndpoint,
  RequestObserver,
  RequestReport,
  TrafficReporter,
} from './traffic-reports.ts';

/** What reports need of the rest of the gateway. */
export interface ReportingServices {
  /** The wall clock, in milliseconds. */
  time(): number;
  newOperationId(): string;
  /** Logs an unexpected error. The visitor gets to know no more than the id of the operation. */
  logFailure(error: unknown, operationId: string): void;
  readonly reporter: TrafficReporter;
}

/** Whether the requests of an account are to be reported. */
export function wantsRequests(services: ReportingServices, accountId: string): boolean {
  try {
    return services.reporter.wantsRequests(accountId);
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
export function observerOf(services: ReportingServices, endpoint: ReportedEndpoint): RequestObserver | undefined {
  try {
    return services.reporter.observe?.(endpoint);
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

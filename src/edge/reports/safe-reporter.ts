// Calls of the reporter: what it throws is its own trouble, and never a visitor's.

import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { ConnectionReport, RequestObserver, RequestReport } from './traffic-reports.ts';

/** Whether anybody wants to hear of a request: all that it costs where nobody does. */
export function wantsRequests(services: PipelineServices, { accountId, id }: LiveEndpoint): boolean {
  try {
    return services.reporter.wantsRequests(accountId, id);
  } catch (error) {
    return failed(services, error);
  }
}

export function wantsConnections(services: PipelineServices, accountId: string): boolean {
  try {
    return services.reporter.wantsConnections(accountId);
  } catch (error) {
    return failed(services, error);
  }
}

/** Where more is to be noted of a request than reports have. */
export function observerOf(services: PipelineServices, endpointId: string): RequestObserver | undefined {
  try {
    return services.reporter.observe?.(endpointId);
  } catch (error) {
    failed(services, error);
    return undefined;
  }
}

export function reportRequest(services: PipelineServices, report: RequestReport): void {
  try {
    services.reporter.request(report);
  } catch (error) {
    failed(services, error);
  }
}

export function reportConnection(services: PipelineServices, report: ConnectionReport): void {
  try {
    services.reporter.connection(report);
  } catch (error) {
    failed(services, error);
  }
}

function failed(services: PipelineServices, error: unknown): false {
  services.logFailure(error, services.newOperationId());
  return false;
}

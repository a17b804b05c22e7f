// The services of the gateway that requests and modules use: clocks, ids, the log and traffic reports.

import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { PipelineServices } from '../edge/pipeline/services.ts';
import { asHttp1Endpoint } from '../edge/upstream/http2/http1-adapter.ts';
import type { ModuleEnvironment } from '../http/module.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import type { EndpointRegistry } from '../tunnel/endpoints/endpoint-registry.ts';

interface VisitServicesOptions extends Pick<PipelineServices, 'newOperationId' | 'reporter'> {
  log: Logger;
}

export function visitServices({ log, newOperationId, reporter }: VisitServicesOptions): PipelineServices {
  return {
    time: Date.now,
    newOperationId,
    logRefusal: (visit) => log.info(visit, 'visitor rejected'),
    logFailure: (error, operationId) => log.error({ err: describeFailure(error), operationId }, 'a module failed'),
    reporter,
  };
}

interface ModuleEnvironmentOptions extends Pick<ModuleEnvironment, 'signingKey' | 'now'> {
  endpoints: EndpointRegistry;
  log: Logger;
}

export function moduleEnvironment(
  config: Pick<Config, 'policyFetch'>,
  { endpoints, signingKey, log, now }: ModuleEnvironmentOptions,
): ModuleEnvironment {
  return {
    now,
    time: Date.now,
    isPrivateFetched: config.policyFetch === 'any',
    signingKey,
    note: ({ endpoint, visitor }, metadata) =>
      log.info({ endpointId: endpoint.id, ip: visitor.ip, metadata }, 'traffic policy log'),
    internal(accountId, url) {
      const endpoint = endpoints.byInternalUrl(accountId, url);
      return endpoint && asHttp1Endpoint(endpoint);
    },
  };
}

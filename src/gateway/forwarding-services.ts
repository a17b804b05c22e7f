// The services of the gateway that requests and modules use: clocks, ids, the log and traffic reports.

import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { RequestCapture } from '../capture/captured-request.ts';
import type { Config } from '../config/config.ts';
import type { PipelineServices } from '../edge/pipeline/services.ts';
import type { LiveRestrictions } from '../edge/restrictions/live-restrictions.ts';
import { asHttp1Endpoint } from '../edge/upstream/http2/http1-adapter.ts';
import type { ModuleEnvironment } from '../http/module.ts';
import { hostsOfPolicies } from '../net/reachable-hosts.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { boundedTo } from '../runtime/lru-bound.ts';
import type { LiveEndpoint } from '../tunnel/endpoints/endpoint.ts';
import type { EndpointLookup } from '../tunnel/endpoints/endpoint-lookup.ts';
import {
  type EndpointRegistry,
  endpointAddress,
  isInternalName,
  parseInternalUrl,
} from '../tunnel/endpoints/endpoint-registry.ts';

interface VisitServicesOptions
  extends Pick<PipelineServices, 'newOperationId' | 'reporter' | 'recorder' | 'requestLog'> {
  log: Logger;
  restrictions: Pick<LiveRestrictions, 'of'>;
}

export function visitServices({
  log,
  newOperationId,
  reporter,
  recorder,
  requestLog,
  restrictions,
}: VisitServicesOptions): PipelineServices {
  return {
    time: Date.now,
    newOperationId,
    logRefusal: (visit) => log.info(visit, 'visitor rejected'),
    logRepeated: (request) => log.info(request, 'request sent again: the service has closed its connection'),
    logFault: (answer) => log.info(answer, 'the response of a service is not valid HTTP'),
    logFailure: (error, operationId) => log.error({ err: describeFailure(error), operationId }, 'a module failed'),
    reporter,
    recorder,
    requestLog,
    restrictionOf: (accountId) => restrictions.of('endpoints', accountId),
  };
}

interface ModuleEnvironmentOptions
  extends Pick<
    ModuleEnvironment,
    'signingKey' | 'sendOutbound' | 'locate' | 'visitorSessions' | 'now' | 'shared' | 'secrets' | 'callInternal'
  > {
  endpoints: EndpointRegistry;
  /** Finds the internal endpoints of other nodes. It is called once there are visitors. */
  lookup(): EndpointLookup;
  log: Logger;
}

export function moduleEnvironment(
  config: Pick<Config, 'policyFetch' | 'backendHosts' | 'sharedDomains'>,
  {
    endpoints,
    lookup,
    signingKey,
    sendOutbound,
    locate,
    visitorSessions,
    log,
    now,
    shared,
    secrets,
    callInternal,
  }: ModuleEnvironmentOptions,
): ModuleEnvironment {
  return {
    now,
    time: Date.now,
    policyHosts: hostsOfPolicies(config),
    signingKey,
    sendOutbound,
    locate,
    visitorSessions,
    sharedDomains: config.sharedDomains,
    shared,
    secrets,
    ...(callInternal && { callInternal }),
    warn: policyWarnings(log),
    note: ({ endpoint, visitor }, metadata) =>
      log.info({ endpointId: endpoint.id, ip: visitor.ip, metadata }, 'traffic policy log'),
    internal(accountId, url) {
      const parsed = parseInternalUrl(url);
      // The name may be computed from what visitors send: public ones are not the account's alone.
      if (!parsed || !isInternalName(parsed.hostname)) return undefined;
      const address = endpointAddress({ accountId, ...parsed });
      const { reachesNodes } = lookup();
      const isShared = reachesNodes && endpoints.sharedAt(address) > 0;
      const own = isShared ? undefined : endpoints.byAddress(address);
      if (own || !reachesNodes) return own && asHttp1Endpoint(own);
      return lookup()
        .resolveAddress(address)
        .then((found) => found && asHttp1Endpoint(found));
    },
  };
}

/** The endpoint to which the name of a captured request leads, as long as that is one of the same account. */
export async function findServing(
  lookup: EndpointLookup,
  { scheme, host, accountId }: RequestCapture,
): Promise<LiveEndpoint | undefined> {
  const hostname = host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
  const listener = scheme === 'http' ? 'http' : 'tls';
  const found =
    lookup.byName(listener, hostname) ?? (await lookup.resolveName(listener, hostname).catch(() => undefined));
  return typeof found === 'object' && found.accountId === accountId ? found : undefined;
}

/** How many warnings are remembered, so that a policy that is compiled again does not repeat them. */
const WARNINGS_MAX = 10_000;

/** Logs what policies are warned of, each warning of an account once. */
function policyWarnings(log: Logger): NonNullable<ModuleEnvironment['warn']> {
  const told = new LRUCache<string, true>(boundedTo(WARNINGS_MAX));
  return ({ accountId }, { path, message }) => {
    const key = JSON.stringify([accountId, path, message]);
    if (!told.has(key)) log.warn({ accountId, path }, `a traffic policy is not as it is meant: ${path} ${message}`);
    told.set(key, true);
  };
}

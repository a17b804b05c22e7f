// From settings to modules, in the order in which they act.

import type { CircuitBreaker } from '../http/circuit-breaker.ts';
import type { ConnectionModule, HttpModule, ModuleEnvironment, ModuleOwner } from '../http/module.ts';
import { compilePolicyText } from '../policy/compile/policy.ts';
import { basicAuth } from './modules/basic-auth.ts';
import { circuitBreaker } from './modules/circuit-breaker.ts';
import { compression } from './modules/compression.ts';
import { requestHeaders, responseHeaders } from './modules/headers.ts';
import { ipRestriction } from './modules/ip-restriction.ts';
import { ModuleCache } from './modules/module-cache.ts';
import type { ConnectionModuleSettings, HttpModuleSettings } from './modules/settings.ts';
import { userAgentFilter } from './modules/user-agent-filter.ts';
import { webhookVerification } from './modules/webhook-verification.ts';

export interface HttpModules {
  /** The outermost first. */
  modules: HttpModule[];
  /** What connections have to pass before the first request. */
  connection: ConnectionModule[];
  breaker: CircuitBreaker | undefined;
}

/**
 * Makes the modules of a route or of a tunnel for HTTP; those that are disabled are left out.
 *
 * Requests pass them in this order, answers in reverse: compression, ip_restriction, user_agent_filter, basic_auth,
 * webhook_verification, traffic_policy, response_headers, request_headers, circuit_breaker. So who may come in is settled
 * before anything is done, a policy has the last word on answers, and the breaker sees what upstream alone did.
 * @param kept where those come from that remember their visitors.
 * @throws {SettingsError} or what the maker of a module throws, for settings that are not right.
 */
export function httpModules(
  settings: HttpModuleSettings,
  owner: ModuleOwner,
  environment: ModuleEnvironment,
  kept = new ModuleCache(),
): HttpModules {
  const on = enabled(settings);
  const { trafficPolicy, circuitBreaker: breaking } = on;
  const policy =
    trafficPolicy &&
    kept.keep('traffic_policy', trafficPolicy, () => compilePolicyText(trafficPolicy.value, owner, environment));
  const breaker = breaking && kept.keep('circuit_breaker', breaking, () => circuitBreaker(breaking, environment));
  const modules = [
    on.compression && compression(),
    on.ipRestriction && ipRestriction(on.ipRestriction),
    on.userAgentFilter && userAgentFilter(on.userAgentFilter),
    on.basicAuth && basicAuth(on.basicAuth),
    on.webhookVerification && webhookVerification(on.webhookVerification, environment),
    policy?.http,
    on.responseHeaders && responseHeaders(on.responseHeaders),
    on.requestHeaders && requestHeaders(on.requestHeaders),
    breaker,
  ];
  return { modules: present(modules), connection: present([policy?.connection]), breaker: breaker?.breaker };
}

/**
 * Makes the modules of a TLS edge, or of a tunnel for TCP or TLS: ip_restriction, then traffic_policy.
 * @throws {SettingsError} or what the maker of a module throws, for settings that are not right.
 */
export function connectionModules(
  settings: ConnectionModuleSettings,
  owner: ModuleOwner,
  environment: ModuleEnvironment,
): ConnectionModule[] {
  const on = enabled(settings);
  return present([
    on.ipRestriction && ipRestriction(on.ipRestriction),
    on.trafficPolicy && compilePolicyText(on.trafficPolicy.value, owner, environment).connection,
  ]);
}

/** The settings without those of modules that are disabled. */
function enabled<T extends object>(settings: T): T {
  return Object.fromEntries(Object.entries(settings).filter(([, module]) => module?.enabled)) as T;
}

const present = <T>(list: readonly (T | undefined)[]): T[] => list.filter((module) => module !== undefined);

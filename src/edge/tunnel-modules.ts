// What is done to the traffic of a tunnel, as its agent asked for it.

import type { ConnectionModule, HttpModule, ModuleEnvironment, ModuleOwner, TlsParameters } from '../http/module.ts';
import { type CompileQueue, CompileQueueFull } from '../policy/compile/compile-queue.ts';
import { PolicyError } from '../policy/settings/problems.ts';
import type { Fields } from '../protocol/messages/fields.ts';
import { allows } from '../tunnel/control/acl.ts';
import { AgentError } from '../tunnel/control/agent-errors.ts';
import type { Proto, RequestedModules, TrafficRules } from '../tunnel/endpoints/endpoint.ts';
import type { HandledTunnel, TunnelModules } from '../tunnel/tunnel-modules.ts';
import { tlsParametersOf } from './edges/tls-parameters.ts';
import { createModules, loadModules } from './http-modules.ts';
import type { ModuleDescriptor, ModuleSettings } from './modules/descriptor.ts';
import { SettingsError } from './modules/settings-error.ts';
import { certificateConflict } from './modules/tls.ts';
import { type TrafficPolicySettings, trafficPolicyModule } from './modules/traffic-policy.ts';
import type { EndpointRules, HttpRoute } from './pipeline/rules/endpoint-rules.ts';
import { ModuleChain } from './pipeline/rules/module-chain.ts';

/** @param policies where policies are compiled in turn. @param descriptors of the modules that there are. */
export function tunnelModules(
  environment: ModuleEnvironment,
  policies: CompileQueue,
  descriptors: readonly ModuleDescriptor[],
): TunnelModules {
  return {
    read: (options, proto) => readBindOptions(descriptors, options, proto),
    withPolicy(requested, policy) {
      const settings: TrafficPolicySettings | undefined = policy ? { enabled: true, value: policy } : undefined;
      return { ...requested, [trafficPolicyModule.key]: settings };
    },
    async make(requested, tunnel) {
      const policy = requested[trafficPolicyModule.key] as TrafficPolicySettings | undefined;
      const work = () => make(requested, tunnel, environment, descriptors);
      try {
        await loadModules(descriptors, requested);
        return await (policy ? policies.compile(tunnel.accountId, policy.value, work) : work());
      } catch (error) {
        if (error instanceof CompileQueueFull) throw new AgentError('tooManyPolicies');
        if (error instanceof PolicyError)
          throw new AgentError('badPolicy', { reason: error.message }, { number: error.number });
        if (error instanceof SettingsError) throw badOption(error.message);
        throw error;
      }
    },
  };
}

/** Which tunnels may have an option, and the error for all others. */
const SCOPES = {
  http: { protos: ['http', 'https'], error: 'optionOfHttp' },
  tls: { protos: ['https', 'tls'], error: 'optionOfTls' },
} as const satisfies Record<string, { protos: readonly Proto[]; error: string }>;

function readBindOptions(descriptors: readonly ModuleDescriptor[], options: Fields, proto: Proto): RequestedModules {
  const asked = descriptors.flatMap(({ key, bindOption }) => {
    const name = bindOption?.names.find((name) => options.has(name) && (bindOption.isAsked?.(options, name) ?? true));
    return bindOption && name !== undefined ? [{ key, bindOption, name }] : [];
  });
  for (const { bindOption, name } of asked) {
    const scope = bindOption.scope && SCOPES[bindOption.scope];
    if (scope && !scope.protos.some((one) => one === proto)) throw new AgentError(scope.error, { option: name, proto });
  }
  try {
    return Object.fromEntries(
      asked.map(({ key, bindOption, name }): [string, ModuleSettings] => [key, bindOption.read(options, name)]),
    );
  } catch (error) {
    throw error instanceof SettingsError ? badOption(error.message) : error;
  }
}

function make(
  requested: RequestedModules,
  tunnel: HandledTunnel,
  environment: ModuleEnvironment,
  descriptors: readonly ModuleDescriptor[],
): TrafficRules | undefined {
  const { accountId, proto, allowance } = tunnel;
  const mayReach = (domain: string) => allows(allowance.acl, { type: 'domain', domain });
  // It gets its id only after its modules are made.
  const owner: ModuleOwner = { accountId, proto, mayReach, scope: () => tunnel.tunnelId };
  const { modules, connection, convertsWebsockets, tls } = createModules(descriptors, requested, owner, environment);
  const conflict = certificateConflict(tls, connection);
  if (conflict) throw badOption(conflict);
  // Tunnels of http and tcp have no TLS to end, and no module that asks for it.
  const parameters = tlsParametersOf(proto === 'tls' ? 'tls' : 'https', tls);
  if (proto === 'http' || proto === 'https') return endpointRules(connection, modules, convertsWebsockets, parameters);
  return endpointRules(connection, [], false, parameters);
}

function endpointRules(
  connection: readonly ConnectionModule[],
  modules: readonly HttpModule[],
  convertsWebsockets: boolean,
  tls: TlsParameters | undefined,
): EndpointRules | undefined {
  if (connection.length === 0 && modules.length === 0 && !convertsWebsockets && !tls) return undefined;
  const chain = modules.length > 0 ? new ModuleChain(modules) : undefined;
  const route: HttpRoute = { chain, convertsWebsockets, upstream: (endpoint) => endpoint };
  const leadsTo = [...modules, ...connection].flatMap((module) => module.leadsTo ?? []);
  return { connection, tls, leadsTo, route: (target) => (chain?.isMisled(target) ? 'ambiguousPath' : route) };
}

const badOption = (reason: string) => new AgentError('badOption', { reason });

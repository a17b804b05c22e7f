// What is done to the traffic of a tunnel, as its agent asked for it.

import { X509Certificate } from 'node:crypto';
import type { ConnectionModule, HttpModule, ModuleEnvironment, ModuleOwner, TlsParameters } from '../http/module.ts';
import { type CompileQueue, CompileQueueFull } from '../policy/compile/compile-queue.ts';
import { usesAction } from '../policy/settings/policy-text.ts';
import { PolicyError } from '../policy/settings/problems.ts';
import { needsSecret } from '../policy/webhooks/providers.ts';
import { allows } from '../tunnel/control/acl.ts';
import { AgentError } from '../tunnel/control/agent-errors.ts';
import type { Handling } from '../tunnel/endpoints/endpoint.ts';
import type { HandledTunnel, MakeHandling, TunnelModules } from '../tunnel/tunnel-modules.ts';
import { createModules, loadModules } from './http-modules.ts';
import { circuitBreakerDefaults } from './modules/circuit-breaker.ts';
import type { ModuleDescriptor, ModulesSettings } from './modules/descriptor.ts';
import { EVERYBODY } from './modules/ip-restriction.ts';
import { mtlsHeaders } from './modules/mtls-headers.ts';
import { SettingsError } from './modules/settings-error.ts';
import type { EndpointRules, HttpRoute } from './pipeline/endpoint-rules.ts';
import { ModuleChain } from './pipeline/module-chain.ts';

const REALM = 'tunnel';
const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/** @param policies where policies are compiled in turn. @param descriptors of the modules that there are. */
export function tunnelHandling(
  environment: ModuleEnvironment,
  policies: CompileQueue,
  descriptors: readonly ModuleDescriptor[],
): MakeHandling {
  return async (modules, tunnel) => {
    const { trafficPolicy } = modules;
    try {
      const settings = settingsOf(modules);
      await loadModules(descriptors, settings);
      const work = () => make(modules, settings, tunnel, environment, descriptors);
      return await (trafficPolicy === undefined ? work() : policies.compile(tunnel.accountId, trafficPolicy, work));
    } catch (error) {
      if (error instanceof CompileQueueFull) throw new AgentError('tooManyPolicies');
      if (error instanceof PolicyError)
        throw new AgentError('badPolicy', { reason: error.message }, { number: error.number });
      if (error instanceof SettingsError) throw badOption(error.message);
      throw error;
    }
  };
}

function make(
  modules: TunnelModules,
  settings: ModulesSettings,
  tunnel: HandledTunnel,
  environment: ModuleEnvironment,
  descriptors: readonly ModuleDescriptor[],
): Handling | undefined {
  const { accountId, proto, allowance } = tunnel;
  const mayReach = (domain: string) => allows(allowance.acl, { type: 'domain', domain });
  const owner: ModuleOwner = { accountId, proto, mayReach };
  const tls = modules.clientAuthorities === undefined ? undefined : mutualTls(modules.clientAuthorities);
  const isHttp = proto === 'http' || proto === 'https';
  const made = createModules(descriptors, settings, owner, environment);
  if (tls && modules.trafficPolicy && usesAction(modules.trafficPolicy, 'terminate-tls'))
    throw badOption('mutual_tls_ca and a policy that terminates TLS do not go together');
  if (!isHttp) return handling(made.connection, [], false, tls);
  const chain = tls ? [mtlsHeaders(), ...made.modules] : made.modules;
  return handling(made.connection, chain, made.convertsWebsockets, tls);
}

function handling(
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

function settingsOf(modules: TunnelModules) {
  const { ipRestriction, userAgentFilter, basicAuth, webhookVerification, trafficPolicy, errorThreshold } = modules;
  const { requestHeaders, responseHeaders, compression } = modules;
  const on = <T extends object>(settings: T | undefined) => settings && { enabled: true, ...settings };
  return {
    ipRestriction: on(ipRestriction && { ...ipRestriction, allow: allowed(ipRestriction.allow) }),
    userAgentFilter: on(userAgentFilter),
    basicAuth: on(basicAuth && { realm: REALM, credentials: basicAuth }),
    webhookVerification: on(webhookVerification && webhookOf(webhookVerification)),
    trafficPolicy: on(trafficPolicy === undefined ? undefined : { value: trafficPolicy }),
    compression: { enabled: compression === true },
    websocketTcpConverter: { enabled: modules.websocketTcpConverter === true },
    requestHeaders: on(requestHeaders),
    responseHeaders: on(responseHeaders),
    circuitBreaker:
      errorThreshold === undefined
        ? undefined
        : { ...circuitBreakerDefaults, errorThresholdPercentage: share(errorThreshold) },
  };
}

function webhookOf({ provider, secret, isSealed }: NonNullable<TunnelModules['webhookVerification']>) {
  if (isSealed && needsSecret(provider)) throw new AgentError('optionNotActedOn', { option: 'sealed_secret' });
  return { provider, secret };
}

const allowed = (networks: string[]) => (networks.length > 0 ? networks : [...EVERYBODY]);

function share(threshold: number): number {
  if (threshold >= 0 && threshold <= 1) return threshold;
  throw badOption('error_threshold must be from 0 to 1');
}

function mutualTls(pem: string): TlsParameters {
  const clientAuthorities = pem.match(CERTIFICATE) ?? [];
  if (clientAuthorities.length === 0 || !clientAuthorities.every(isAuthority))
    throw badOption('mutual_tls_ca must hold the certificates of authorities, in PEM');
  return { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3', clientAuthorities, clientVerification: 'require-and-verify' };
}

function isAuthority(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca;
  } catch {
    return false;
  }
}

const badOption = (reason: string) => new AgentError('badOption', { reason });

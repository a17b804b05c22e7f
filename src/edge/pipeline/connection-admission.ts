// The modules that a connection has to pass before anything is read of it, or answered.

import type { Socket } from 'node:net';
import type { ModuleDecisions } from '../../http/exchange.ts';
import type { NewConnection } from '../../http/module.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { SocketInfo } from '../visitors/connection-info.ts';
import { UNKNOWN_VISITOR, visitorOf } from '../visitors/connections.ts';
import { type EndpointRules, endpointRulesOf } from './rules/endpoint-rules.ts';
import { HOPS_MAX } from './rules/module-chain.ts';
import type { PipelineServices } from './services.ts';

/** Whether the IP restriction of its account lets a connection come to an endpoint. A refusal is logged with its reason. */
export function passesRestriction(
  socket: Socket,
  endpoint: LiveEndpoint,
  decisions: ModuleDecisions | undefined,
  services: PipelineServices,
): boolean {
  const restriction = services.restrictionOf?.(endpoint.accountId);
  if (!restriction) return true;
  const info = new SocketInfo(socket, visitorOf(socket, false) ?? UNKNOWN_VISITOR, services.time());
  const connection = Object.assign(info, { endpoint, decisions });
  const refused = restriction.onConnection(connection);
  if (refused) logRefusal(connection, services, restriction.name, refused.reason);
  return !refused;
}

/**
 * Sends a connection through the modules of its endpoint, and of those that it is forwarded to.
 * @param connection its `endpoint` is the one whose turn it is.
 * @returns where it goes; undefined when a module has refused it, which is logged with its reason.
 */
export async function admitConnection(
  connection: NewConnection & { endpoint: LiveEndpoint },
  rules: EndpointRules,
  services: PipelineServices,
): Promise<LiveEndpoint | undefined> {
  let current: EndpointRules | undefined = rules;
  for (let hops = 0; current; hops++) {
    const forwarded = await runConnectionModules(connection, current, services);
    if (forwarded === 'refused') return undefined;
    if (forwarded === undefined) break;
    if (hops === HOPS_MAX) {
      logRefusal(connection, services, 'traffic_policy', 'too many endpoints forward to one another');
      return undefined;
    }
    connection.endpoint = forwarded;
    current = endpointRulesOf(forwarded);
  }
  return connection.endpoint;
}

async function runConnectionModules(
  connection: NewConnection & { endpoint: LiveEndpoint },
  rules: EndpointRules,
  services: PipelineServices,
): Promise<LiveEndpoint | 'refused' | undefined> {
  for (const module of rules.connection) {
    try {
      const verdict = await module.onConnection(connection);
      if (verdict?.kind === 'forward') return verdict.endpoint;
      if (!verdict) continue;
      logRefusal(connection, services, module.name, verdict.reason);
    } catch (error) {
      services.logFailure(error, services.newOperationId());
    }
    return 'refused';
  }
  return undefined;
}

function logRefusal(
  { endpoint, visitor }: NewConnection,
  services: PipelineServices,
  module: string,
  reason: string,
): void {
  services.logRefusal({
    operationId: undefined,
    module,
    reason,
    status: undefined,
    endpointId: endpoint.id,
    accountId: endpoint.accountId,
    ip: visitor.ip,
  });
}

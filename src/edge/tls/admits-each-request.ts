// Whether the rules for connections are applied to each request of a connection, in place of the connection as a whole.

import type { Socket } from 'node:net';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { ipOf } from '../../tunnel/network/peer.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import { endpointRulesOf } from '../pipeline/rules/endpoint-rules.ts';

/**
 * Whether each request is admitted by itself: on a connection of a trusted proxy they may be of several clients, and a visitor whom
 * the account's IP restriction refuses is told so in an answer, whatever the rules say of the connection.
 */
export function admitsEachRequest(
  { proxies, services }: Pick<ListenerContext, 'proxies' | 'services'>,
  raw: Socket,
  endpoint: LiveEndpoint,
): boolean {
  const ip = ipOf(raw);
  if (endpoint.proto !== 'https') return false;
  if (proxies?.has(ip)) return !endpointRulesOf(endpoint)?.connection.some(({ endsTls }) => endsTls);
  return services.restrictionOf?.(endpoint.accountId)?.refuses(ip) === true;
}

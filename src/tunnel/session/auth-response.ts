// The response to an agent that was admitted.

import { writeAuthResponse } from '../../protocol/messages/auth.ts';
import { LEG_MAX } from '../control/leg-numbers.ts';
import type { OpenedSession } from '../control/registrar.ts';
import type { AdmittedSession, SessionDeps } from './session-types.ts';

/** The version of the gateway in responses to agents. */
export const GATEWAY_VERSION = '0.1.0';
/** Agents show the plan beside the account. There is none here. */
const PLAN_NAME = 'self-hosted';

/** @param streamWindow the negotiated stream window, in bytes; 0 for none. */
export function authResponse(
  { settings, registrar }: Pick<SessionDeps, 'settings' | 'registrar'>,
  { clientId, cookie, sessionId, accountId }: Pick<AdmittedSession, 'clientId' | 'cookie' | 'sessionId' | 'accountId'>,
  ingress: OpenedSession['ingress'],
  streamWindow: number,
): object {
  const { region, agentAddresses, agentBanner: banner } = settings;
  const connectAddresses = connectAddressesFor(ingress, agentAddresses);
  const response = { clientId, cookie, region, streamWindow, node: registrar.nodeId, connectAddresses };
  // Accounts have ids only.
  const description = { version: GATEWAY_VERSION, sessionId, accountName: accountId, planName: PLAN_NAME, banner };
  return writeAuthResponse(response, description);
}

/**
 * The addresses of nodes in the order in which an agent should use them: it has its session at the first one, and opens a further
 * session at each of the others. Without two addresses there are none, as an agent needs no further session then.
 * @param ingress where the agent has connected: its node's own address goes first.
 * @param addresses those of all nodes, `host:port`.
 */
function connectAddressesFor({ serverIp, hostname }: OpenedSession['ingress'], addresses: readonly string[]): string[] {
  if (addresses.length < 2) return [];
  const isOwn = (address: string) => {
    const host = address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
    return host === serverIp || (hostname !== '' && host.toLowerCase() === hostname.toLowerCase());
  };
  // Where several addresses have the same host, nothing says which of them is the node's.
  const own = addresses.filter(isOwn);
  const first = own.length === 1 ? own : [];
  return [...first, ...addresses.filter((address) => !first.includes(address))].slice(0, LEG_MAX + 1);
}

// The wire compatibility with agents of the original service. Only this file of the gateway contains the name of that service.

import { type Auth, OWN_CLIENT_TYPE } from '../../protocol/messages/auth.ts';
import type { StreamLimits } from '../endpoints/stream-slots.ts';

/** The properties of an agent's software that the gateway adapts to. */
export interface AgentKind extends StreamLimits {
  /** The prefix of error codes. An SDK recognises only the prefix of its own service. */
  errorPrefix: string;
  /** Whether the agent leaves Nagle's algorithm enabled, which delays small writes until earlier data is acknowledged. */
  hasNagle: boolean;
  /**
   * Whether a connection to the upstream may serve one HTTP visitor after the other. Programs that use an SDK as their listener see
   * the address of one visitor on each connection.
   */
  sharesConnections: boolean;
}

const OURS: AgentKind = {
  errorPrefix: 'ERR_GATEWAY_',
  hasNagle: false,
  sharesConnections: true,
  streamsMax: 8192,
  unservedMax: 8192,
  lingerMs: 0,
};

/** The prefix of the original service's error codes. */
export const FOREIGN_ERROR_PREFIX = 'ERR_NGROK_';

/** The SDKs break at 512 streams; 480 held in every trial, counting those that ended in the last 50 ms. */
const FOREIGN: AgentKind = {
  errorPrefix: FOREIGN_ERROR_PREFIX,
  hasNagle: false,
  sharesConnections: false,
  streamsMax: 480,
  unservedMax: 32,
  lingerMs: 50,
};

/** The namespace between `actions` and a result name in policies that were written for the original service. */
export const FOREIGN_NAMESPACE = 'ngrok';

/** The kind of an agent, by the client type and user agent of its `Auth` message. */
export function agentKindOf({ clientType, userAgent }: Pick<Auth, 'clientType' | 'userAgent'>): AgentKind {
  if (clientType === OWN_CLIENT_TYPE) return OURS;
  return { ...FOREIGN, hasNagle: userAgent.includes('ngrok-rust/') };
}

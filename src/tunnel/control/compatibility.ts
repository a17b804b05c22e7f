// What agents made for the original service need on the wire. The only file of the gateway that says its name.

import { type Auth, OWN_CLIENT_TYPE } from '../../protocol/messages/messages.ts';
import type { StreamLimits } from '../endpoints/stream-slots.ts';

/** How the gateway treats an agent. */
export interface AgentKind extends StreamLimits {
  /** What the agent's error codes begin with: an SDK recognises only those of its own service. */
  errorPrefix: string;
  /** Whether the agent's TCP holds back small writes until what it sent before is acknowledged. */
  hasNagle: boolean;
}

const OURS: AgentKind = {
  errorPrefix: 'ERR_GATEWAY_',
  hasNagle: false,
  streamsMax: 8192,
  unservedMax: 8192,
  lingerMs: 0,
};

/** The SDKs break at 512 streams; 480 held in every trial, counting those that ended in the last 50 ms. */
const FOREIGN: AgentKind = {
  errorPrefix: 'ERR_NGROK_',
  hasNagle: false,
  streamsMax: 480,
  unservedMax: 32,
  lingerMs: 50,
};

/** What policies written for the original service put between `actions` and the name of a result. */
export const FOREIGN_NAMESPACE = 'ngrok';

/** Which kind an agent is of, by what it says of itself. */
export function agentKindOf({ clientType, userAgent }: Pick<Auth, 'clientType' | 'userAgent'>): AgentKind {
  if (clientType === OWN_CLIENT_TYPE) return OURS;
  return { ...FOREIGN, hasNagle: userAgent.includes('ngrok-rust/') };
}

// What agents made for the original service need on the wire. The only file of the gateway that says its name.

import { type Auth, OUR_CLIENT } from '../protocol/messages.ts';

/** How an agent is to be treated. */
export interface AgentKind {
  /** What its error codes begin with: an SDK recognises only those of its own service. */
  errorPrefix: string;
  /** Its TCP holds back small writes until what it sent before is acknowledged. */
  hasNagle: boolean;
  /** The streams that it can have open without breaking the session. */
  streamsMax: number;
  /** Streams of one tunnel that it has not begun to serve; more would hold up its other tunnels, and then all of it. */
  unservedMax: number;
  /** How long after its end a stream still counts, in milliseconds: the agent frees it later than we do. */
  lingerMs: number;
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
export function kindOf({ clientType, userAgent }: Pick<Auth, 'clientType' | 'userAgent'>): AgentKind {
  if (clientType === OUR_CLIENT) return OURS;
  return { ...FOREIGN, hasNagle: userAgent.includes('ngrok-rust/') };
}

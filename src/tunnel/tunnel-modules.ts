// The modules that a tunnel requests in the options of its bind. The edge validates and creates them; this layer only knows
// their interface.

import type { Fields } from '../protocol/messages/fields.ts';
import type { Allowance } from './control/acl.ts';
import type { LiveEndpoint, Proto, RequestedModules, TrafficRules } from './endpoints/endpoint.ts';

/** The tunnel for which modules are created. */
export interface HandledTunnel extends Pick<LiveEndpoint, 'accountId' | 'proto' | 'tls'> {
  /** The current permissions of its credential, which also apply to the targets of its policy. */
  allowance: Allowance;
  /** Its id; undefined until it is registered. */
  tunnelId?: string;
}

/** The operations of the edge on the modules of tunnels. */
export interface TunnelModules {
  /**
   * Reads the options of a bind.
   * @throws {AgentError} for a module that this protocol does not support. @throws {MessageError} for a wrong type.
   */
  read(options: Fields, proto: Proto): RequestedModules;
  /** Returns the modules with another traffic policy, or without one when the text is empty. */
  withPolicy(requested: RequestedModules, policy: string): RequestedModules;
  /**
   * Creates the modules of a tunnel; undefined when it has none.
   * @throws {AgentError} the mistake in the settings.
   */
  make(requested: RequestedModules, tunnel: HandledTunnel): Promise<TrafficRules | undefined>;
}

// What a tunnel asks the gateway to do to its traffic, as the options of its bind say it. What is right in it, and what is
// done, is the public side's to judge.

import type { Fields } from '../protocol/messages/fields.ts';
import type { Allowance } from './control/acl.ts';
import type { LiveEndpoint, Proto, TrafficRules } from './endpoints/endpoint.ts';

/** The settings of the modules that a tunnel asks for, by the keys of the modules. Only the public side reads them. */
export type RequestedModules = Readonly<Record<string, { enabled: boolean } | undefined>>;

/** For whom modules are made. */
export interface HandledTunnel extends Pick<LiveEndpoint, 'accountId' | 'proto' | 'tls'> {
  /** What its credential allows now: it covers where a policy forwards to. */
  allowance: Allowance;
}

/** What the public side does for tunnels. */
export interface TunnelModules {
  /**
   * Reads the options of a bind.
   * @throws {AgentError} for what tunnels of this protocol cannot have; MessageError for what is not of the right type.
   */
  read(options: Fields, proto: Proto): RequestedModules;
  /** The same modules with another traffic policy, or with none where it is empty. */
  withPolicy(requested: RequestedModules, policy: string): RequestedModules;
  /**
   * Makes what is done to a tunnel's traffic; undefined where that is nothing. Rejects with an `AgentError` that names
   * what is not right.
   */
  make(requested: RequestedModules, tunnel: HandledTunnel): Promise<TrafficRules | undefined>;
}

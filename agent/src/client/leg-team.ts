// What the legs of a client know of each other.

import type { SessionIdentity } from '../gateway-client.ts';
import type { AcceptedSession, GatewaySession, GatewaySessionDeps } from './gateway-session.ts';
import type { Place } from './places.ts';

/** A leg as the others see it. */
export interface TeamLeg {
  readonly number: number;
  /** The session; null while there is none. */
  readonly session: GatewaySession | null;
  /** The place that it is connected to, or tries; null before the first. */
  readonly place: Place | null;
  /** The node that it is connected to; null while there is no session. */
  readonly node: string | null;
}

/** What a leg has to know of its client and the other legs. */
export interface LegTeam {
  readonly identity: SessionIdentity | null;
  /** Whether another leg is connected. */
  isServed(leg: TeamLeg): boolean;
  /** The other legs that the client is to have. */
  others(leg: TeamLeg): TeamLeg[];
  /** The places where the gateway can be reached, in the order in which this client tries them. */
  places(): Promise<Place[]>;
  /** Whether the client is to have this leg, where there are these places. */
  isWanted(leg: TeamLeg, places: readonly Place[]): boolean;
  /** The dependencies of a new session. @param session returns it, once it is made. */
  sessionDeps(session: () => GatewaySession, places: readonly Place[]): GatewaySessionDeps;
  onAccepted(leg: TeamLeg, accepted: AcceptedSession): void;
  onOnline(session: GatewaySession): void;
  onOffline(session: GatewaySession): void;
  onChange(): void;
}

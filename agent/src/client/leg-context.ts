// What the legs of a client know of each other.

import type { SessionIdentity } from '../gateway-client.ts';
import type { AcceptedSession, GatewaySession, GatewaySessionDeps } from './gateway-session.ts';
import type { Place } from './places.ts';

/** A leg as the others see it. */
export interface OtherLeg {
  readonly number: number;
  /** The session; null while there is none. */
  readonly session: GatewaySession | null;
  /** The place that it is connected to, or tries; null before the first. */
  readonly place: Place | null;
  /** The node that it is connected to; null while there is no session. */
  readonly node: string | null;
}

/** What a leg has to know of its client and the other legs. */
export interface LegContext {
  readonly identity: SessionIdentity | null;
  /** Whether another leg is connected. */
  isServed(leg: OtherLeg): boolean;
  /** The other legs that the client is to have. */
  others(leg: OtherLeg): OtherLeg[];
  /** The places where the gateway can be reached, in the order in which this client tries them. */
  places(): Promise<Place[]>;
  /** Whether the client is to have this leg, where there are these places. */
  isWanted(leg: OtherLeg, places: readonly Place[]): boolean;
  /** The dependencies of a new session of a leg. @param session returns it, once it is made. */
  sessionDeps(session: () => GatewaySession, places: readonly Place[]): Omit<GatewaySessionDeps, 'onMove'>;
  /** Binds all tunnels in a session. @returns whether it serves all that an earlier session serves. */
  bindAll(session: GatewaySession, earlier: GatewaySession): Promise<boolean>;
  onAccepted(leg: OtherLeg, accepted: AcceptedSession): void;
  onOnline(session: GatewaySession): void;
  /** Called when a session has ended, or another one of its leg serves all of its tunnels. */
  onOffline(session: GatewaySession): void;
  onChange(): void;
}

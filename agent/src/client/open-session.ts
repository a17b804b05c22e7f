// Opens a session at a place of the gateway: connects, asks which node it is, and authenticates.

import type { ForwardProxy, SessionIdentity } from '../gateway-client.ts';
import { dial } from './dial.ts';
import { GatewayRefusal } from './gateway-refusal.ts';
import { type AcceptedSession, GatewaySession, type GatewaySessionDeps } from './gateway-session.ts';
import { type Place, writePlace } from './places.ts';
import type { ClientTiming } from './timing.ts';

/** A gateway at which a session makes no sense. The message says why. */
export class UnsuitableGateway extends Error {}

export interface OpenSessionOptions {
  authtoken: string;
  ca: string | undefined;
  /** The proxy in between; null for none. */
  proxy: ForwardProxy | null;
  timing: ClientTiming;
  /** Ends the attempt when it is aborted. */
  shutdown: AbortSignal;
  /** Makes the dependencies of the session. @param session returns it, once it is made. */
  deps(session: () => GatewaySession): GatewaySessionDeps;
  identity: SessionIdentity | null;
  legNumber: number;
  /** Whether the earlier session with that number stays, as the agent moves to this one. */
  moves: boolean;
  /** Whether the node must be known before the authentication, which may end another session. */
  asksFirst: boolean;
  /** @throws {UnsuitableGateway} when there must be no session at a node. @param node '' when the gateway does not say. */
  checkNode(node: string): void;
}

/** A session that the gateway has accepted, and where it is. */
export interface OpenedSession {
  place: Place;
  session: GatewaySession;
  accepted: AcceptedSession;
}

/** @throws {UnsuitableGateway} @throws {GatewayRefusal} when the gateway refuses the agent. @throws {Error} when there is no gateway. */
export async function openSession(place: Place, options: OpenSessionOptions): Promise<OpenedSession> {
  const { authtoken, ca, proxy, timing, shutdown, identity, legNumber, moves, asksFirst, checkNode } = options;
  const socket = await dial({ ...place, ca, proxy }, timing, shutdown);
  const session: GatewaySession = new GatewaySession(
    socket,
    options.deps(() => session),
  );
  const closeSession = () => void session.close();
  shutdown.addEventListener('abort', closeSession);
  try {
    shutdown.throwIfAborted();
    if (asksFirst) {
      const { node, takesMoves } = await session.serverInfo();
      if (moves && !takesMoves) throw new UnsuitableGateway(`the gateway at ${writePlace(place)} knows no moves`);
      checkNode(node);
    }
    const accepted = await session.authenticate(authtoken, identity, legNumber, moves);
    shutdown.throwIfAborted();
    if (accepted.node !== '') checkNode(accepted.node);
    // As another agent it would take the tunnels away from the earlier session.
    if (moves && accepted.identity.clientId !== identity?.clientId)
      throw new UnsuitableGateway(`the gateway at ${writePlace(place)} does not know this agent any more`);
    return { place, session, accepted };
  } catch (error) {
    if (shutdown.aborted || error instanceof UnsuitableGateway) await session.close();
    else session.destroy('not authenticated');
    if (error instanceof GatewayRefusal || error instanceof UnsuitableGateway) throw error;
    const { message } = error as Error;
    throw new Error(`what listens at ${writePlace(place)} is no gateway, or is in trouble: ${message}`);
  } finally {
    shutdown.removeEventListener('abort', closeSession);
  }
}

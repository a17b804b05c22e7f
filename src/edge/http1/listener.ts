// The listener for HTTP without TLS.

import { createServer, type Server, type Socket } from 'node:net';
import { abortSocket } from '../../protocol/relay.ts';
import { countResponse } from '../metrics/counters.ts';
import { errorReply } from '../pipeline/error-reply.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import { localReplyBytes } from '../pipeline/pipeline-response.ts';
import type { ConnectionLimit } from '../visitors/connection-limit.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { VisitorConnections } from '../visitors/connections.ts';
import { Http1Connections } from './connections.ts';

/** After so much silence the kernel asks whether a visitor is still there; milliseconds. */
const KEEP_ALIVE_MS = 60_000;
/** How many visitors above the limit get an error response at a time; more are cut without one. */
const TURNED_AWAY_MAX = 64;
/** How long one of them may take to read it. */
const TURN_AWAY_MS = 1000;

export interface HttpListener {
  /** Not listening yet. */
  readonly server: Server;
  /**
   * Ends listening at once, and idle connections after `graceMs`; what is still under way after `drainMs` is cut. Milliseconds.
   */
  close(drainMs: number, graceMs?: number): Promise<void>;
}

/**
 * @param limit how many connections of visitors there may be, over all listeners.
 * @param ready visitors wait until all that is configured is live.
 */
export function createHttpListener(
  listener: ListenerContext,
  limit: ConnectionLimit,
  ready?: Promise<unknown>,
): HttpListener {
  const visitors = new VisitorConnections(limit);
  const connections = new Http1Connections(listener.settings, listener.now);
  let turnedAway = 0;
  let isReady = !ready;
  void ready?.then(() => {
    isReady = true;
  });

  function turnAway(socket: Socket): void {
    socket.on('error', () => {}); // Nothing is to be done for it.
    if (turnedAway >= TURNED_AWAY_MAX) return void abortSocket(socket);
    turnedAway++;
    countResponse(listener.counters, 503);
    const deadline = setTimeout(() => socket.destroy(), TURN_AWAY_MS);
    socket.once('close', () => {
      turnedAway--;
      clearTimeout(deadline);
    });
    socket.resume();
    socket.end(localReplyBytes(errorReply('tooManyVisitors'), false, true));
  }

  function acceptWhenReady(socket: Socket, slot: ConnectionSlot): void {
    const gone = () => {}; // Its close follows.
    socket.on('error', gone);
    void ready?.then(() => {
      socket.off('error', gone);
      if (!socket.destroyed) connections.accept(socket, listener, slot);
    });
  }

  const server = createServer(
    { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS },
    (socket) => {
      const slot = visitors.admit(socket);
      if (!slot) turnAway(socket);
      else if (isReady) connections.accept(socket, listener, slot);
      else acceptWhenReady(socket, slot);
    },
  );
  server.on('error', () => {}); // One connection could not be accepted, for want of descriptors; the next may be.

  return {
    server,
    async close(drainMs, graceMs = 0) {
      server.close();
      connections.stop(graceMs);
      await visitors.end(drainMs);
    },
  };
}

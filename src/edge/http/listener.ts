// The listener for HTTP without TLS.

import { createServer, type Server, type Socket } from 'node:net';
import { abort } from '../../protocol/relay.ts';
import type { VisitorLimit } from '../visitor-limit.ts';
import { Visitors } from '../visitors.ts';
import { countAnswer } from '../visits/counters.ts';
import { Connections } from './connections.ts';
import { failureBytes } from './failure-bytes.ts';
import type { Front } from './front.ts';

/** After so much silence the kernel asks whether a visitor is still there; milliseconds. */
const KEEP_ALIVE_MS = 60_000;
/** How many visitors too many are told so at once; more are cut without a word. */
const TURNED_AWAY_MAX = 64;
/** How long one of them may take to read it. */
const TURN_AWAY_MS = 1000;

export interface HttpListener {
  /** Not listening yet. */
  readonly server: Server;
  /** Ends listening at once, and idle connections; what is still under way after `drainMs` is cut. */
  close(drainMs: number): Promise<void>;
}

/** @param limit how many connections of visitors there may be, over all listeners. */
export function createHttpListener(front: Front, limit: VisitorLimit): HttpListener {
  const visitors = new Visitors(limit);
  const connections = new Connections(front.settings, front.now);
  let turnedAway = 0;

  function turnAway(socket: Socket): void {
    socket.on('error', () => {}); // Nothing is to be done for it.
    if (turnedAway >= TURNED_AWAY_MAX) return void abort(socket);
    turnedAway++;
    countAnswer(front.counters, 503);
    const deadline = setTimeout(() => socket.destroy(), TURN_AWAY_MS);
    socket.once('close', () => {
      turnedAway--;
      clearTimeout(deadline);
    });
    socket.resume();
    socket.end(failureBytes('tooManyVisitors', undefined, true));
  }

  const server = createServer(
    { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS },
    (socket) => {
      const place = visitors.admit(socket);
      if (place) connections.accept(socket, front, place);
      else turnAway(socket);
    },
  );
  server.on('error', () => {}); // One connection could not be accepted, for want of descriptors; the next may be.

  return {
    server,
    async close(drainMs) {
      server.close();
      connections.stop();
      await visitors.end(drainMs);
    },
  };
}

// Stops and starts accepting at a listening socket that other processes accept from, too. Node has no call for it: closing the copy
// of this process would let the primary close the socket, with all connections that wait at it, if the other processes just end.

import type { Server } from 'node:net';

/** What libuv does to a stream. A listening socket is polled like one that is read: `uv_read_stop` ends it, `uv_listen` begins it. */
interface Handle {
  readStart?(): number;
  readStop?(): number;
  listen?(backlog: number): number;
}

const handleOf = (server: Server) => (server as Server & { _handle?: Handle | null })._handle ?? undefined;

/**
 * Leaves new connections to the other processes: they wait in the kernel until one accepts them.
 * @returns false where that is not possible: not for a socket of this process alone, nor where Node has no such handle.
 */
export function pauseAccepting(server: Server): boolean {
  const handle = handleOf(server);
  if (!handle?.readStart || !handle.readStop || !handle.listen) return false;
  // libuv stops only what it has started.
  return handle.readStart() === 0 && handle.readStop() === 0;
}

/**
 * Accepts again.
 * @param backlog as `listen` takes it. @returns false when it failed; true for a server that has been closed meanwhile.
 */
export function resumeAccepting(server: Server, backlog: number): boolean {
  const handle = handleOf(server);
  return handle?.listen === undefined || handle.listen(backlog) === 0;
}

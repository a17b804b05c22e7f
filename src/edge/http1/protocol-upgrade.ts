// What follows on a connection when a visitor and an upstream have agreed to speak another protocol than HTTP.

import type { Socket } from 'node:net';
import { ErrorCode } from '../../protocol/mux/stream.ts';
import { relay } from '../../protocol/relay.ts';
import type { CountedUpgrade } from '../metrics/request-counter.ts';
import type { Upgrade } from '../pipeline/transport.ts';
import { bridgeWebsocket } from '../websocket/tcp-bridge.ts';

/**
 * Joins a visitor's connection to the stream of its upstream, both ways. Nothing else may listen to the socket.
 * @param first what was read of the socket after the request.
 */
export function joinUpgraded(
  socket: Socket,
  { stream, convertsWebsocket, lifetime }: Upgrade,
  first: Buffer,
  { counters, onClose: closed }: CountedUpgrade,
): void {
  const onClose = (wasCut: boolean) => {
    lifetime?.over();
    closed(wasCut);
  };
  lifetime?.goOn(() => void socket.destroy());
  if (socket.destroyed) {
    onClose(true);
    stream.reset(ErrorCode.CANCELLED);
  } else if (convertsWebsocket) {
    bridgeWebsocket({ socket, stream, first, traffic: counters, onClose });
  } else {
    if (first.length > 0) stream.write(first);
    relay(stream, socket, { counters, onClose });
  }
}

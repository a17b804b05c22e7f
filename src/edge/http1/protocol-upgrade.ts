// What follows when a visitor and an upstream have agreed to speak another protocol than HTTP.

import { type ByteStream, ErrorCode } from '../../protocol/mux/stream.ts';
import { relay } from '../../protocol/relay.ts';
import type { Http1ConnectionContext } from './owners.ts';

/**
 * What comes on the connection from now on goes as it is, both ways.
 * @param onClose called once, when that is over.
 */
export function upgradeProtocol(
  connection: Http1ConnectionContext,
  stream: ByteStream,
  onClose?: (wasCut: boolean) => void,
): void {
  const counted = connection.counter.countUpgrade(connection.input.left, onClose);
  const first = connection.detach();
  if (!first) {
    counted.onClose(true);
    return void stream.reset(ErrorCode.CANCELLED);
  }
  if (first.length > 0) stream.write(first);
  relay(stream, connection.socket, counted);
}

// The first TLS record of an agent, its ClientHello, read before there is time for a handshake.

import type { Socket } from 'node:net';

/** What a ClientHello may have; that of today's libraries has under 2 KiB. Who sends more before an answer is none. */
const BYTES_MAX = 8 * 1024;
/** Of a TLS record (RFC 8446, section 5.1): its type, two bytes of a version, and the length of what follows. */
const HEADER_BYTES = 5;
const HANDSHAKE = 22;

export interface FirstRecord {
  /** Ends reading. @returns all that came; the socket is paused, and nothing is left in it. */
  take(): Buffer;
}

/**
 * Reads until the record is complete, or is seen to be none: TLS will say so. Goes on reading until `take`, so that it is
 * noticed when the agent goes: the socket is destroyed then.
 */
export function readFirstRecord(socket: Socket, onComplete: (record: FirstRecord) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  let isComplete = false;
  const onEnd = () => socket.destroy();
  const onData = (chunk: Buffer) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    if (bytes.length > BYTES_MAX) return void socket.destroy();
    if (isComplete || !hasRecord(bytes)) return;
    isComplete = true;
    onComplete({
      take() {
        socket.off('data', onData).off('end', onEnd).pause();
        return bytes;
      },
    });
  };
  socket.on('data', onData).on('end', onEnd);
}

function hasRecord(bytes: Buffer): boolean {
  if (bytes[0] !== HANDSHAKE) return true;
  return bytes.length >= HEADER_BYTES && bytes.length >= HEADER_BYTES + bytes.readUInt16BE(3);
}

// Reads the first TLS record of an agent, its ClientHello, before the gateway has capacity for the handshake.

import type { Socket } from 'node:net';

/** The limit for a ClientHello. Current libraries send less than 2 KiB. What sends more before an answer is no agent. */
const BYTES_MAX = 8 * 1024;
/** The header of a TLS record (RFC 8446, section 5.1): type, two bytes of version, two bytes of length. */
const HEADER_BYTES = 5;
const HANDSHAKE = 22;

/** The first record of a connection, while it waits for its handshake. */
export interface FirstRecord {
  /** Stops reading and pauses the socket. @returns all bytes received so far; the read buffer of the socket is empty. */
  consume(): Buffer;
}

/**
 * Reads until the record is complete, or the bytes are no TLS record, which the TLS layer will report. Reading continues until
 * `consume`, so that the gateway sees when the agent disconnects; it destroys the socket then.
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
      consume() {
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

// Batches of events as they are stored: lines of JSON, compressed when that saves space.

import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { readWritten, type WrittenEvent } from './event.ts';

/** Batches of fewer bytes are not compressed, because it saves less than it costs. */
const COMPRESS_FROM = 1024;
const GZIP_MAGIC = 0x1f;
/** The chunk sizes of zlib, in bytes. Each chunk costs a turn of the event loop, and the default is only 16 KiB. */
const [COMPRESS_PIECE, EXPAND_PIECE] = [256 * 1024, 1024 * 1024];

const compress = promisify(gzip);
const expand = promisify(gunzip);

export interface PackedEvents {
  count: number;
  body: Buffer;
}

/** Packs events into a batch. @param texts of at least one event, as `writeEvent` returns them. */
export async function packEvents(texts: readonly string[]): Promise<PackedEvents> {
  const lines = Buffer.from(texts.join('\n'));
  const isLong = lines.length >= COMPRESS_FROM;
  if (!isLong) return { count: texts.length, body: lines };
  const compressed = await compress(lines, { level: constants.Z_BEST_SPEED, chunkSize: COMPRESS_PIECE });
  // A copy, because the result is a view of a whole chunk, which would stay in memory with it.
  return { count: texts.length, body: Buffer.from(compressed) };
}

/** The events of a batch in their order. @throws when the bytes are not from `packEvents`. */
export async function unpackEvents(body: Uint8Array): Promise<WrittenEvent[]> {
  const lines = body[0] === GZIP_MAGIC ? await expand(body, { chunkSize: EXPAND_PIECE }) : Buffer.from(body);
  return lines.toString().split('\n').map(readWritten);
}

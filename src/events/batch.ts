// Events as they are stored while they wait: lines of JSON, compressed where that pays.

import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { readWritten, type WrittenEvent } from './event.ts';

/** Below it, compression saves less than it costs. */
const COMPRESS_FROM = 1024;
const GZIP_MAGIC = 0x1f;
/** How much is compressed or expanded at a time: each piece costs a turn of the event loop, and 16 KiB are usual. */
const [COMPRESS_PIECE, EXPAND_PIECE] = [256 * 1024, 1024 * 1024];

const compress = promisify(gzip);
const expand = promisify(gunzip);

export interface PackedEvents {
  count: number;
  body: Buffer;
}

/** @param texts of events, as `writeEvent` makes them; one at least. */
export async function packEvents(texts: readonly string[]): Promise<PackedEvents> {
  const lines = Buffer.from(texts.join('\n'));
  const isLong = lines.length >= COMPRESS_FROM;
  if (!isLong) return { count: texts.length, body: lines };
  const compressed = await compress(lines, { level: constants.Z_BEST_SPEED, chunkSize: COMPRESS_PIECE });
  // A copy: what is given back lies at the beginning of a whole piece, which would wait with it.
  return { count: texts.length, body: Buffer.from(compressed) };
}

/** The events in their order. @throws when it is not what `packEvents` made. */
export async function unpackEvents(body: Uint8Array): Promise<WrittenEvent[]> {
  const lines = body[0] === GZIP_MAGIC ? await expand(body, { chunkSize: EXPAND_PIECE }) : Buffer.from(body);
  return lines.toString().split('\n').map(readWritten);
}

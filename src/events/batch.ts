// Batches of events as they are stored: lines of JSON, compressed when that saves space.

import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { WrittenEvent } from './written-event.ts';

/** Batches of fewer bytes are not compressed, because it saves less than it costs. */
const COMPRESS_FROM = 1024;
const GZIP_MAGIC = 0x1f;
const NEWLINE = 0x0a;
/** The chunk sizes of zlib, in bytes. Each chunk costs a turn of the event loop, and the default is only 16 KiB. */
const [COMPRESS_PIECE, EXPAND_PIECE_MAX] = [64 * 1024, 1024 * 1024];
/** How much of a gzip stream says at its end how long its content is (RFC 1952, ISIZE). */
const LENGTH_BYTES = 4;

const compress = promisify(gzip);
const expand = promisify(gunzip);

export interface PackedEvents {
  count: number;
  body: Buffer;
}

/** What a stored batch has in it. */
export interface BatchContent {
  /** In their order. */
  events: WrittenEvent[];
  /** The lines that are not events. */
  unreadable: string[];
}

/** Packs events into a batch. @param texts of at least one event, as `writeEvent` returns them. */
export function packEvents(texts: readonly string[]): Promise<PackedEvents> {
  return packLines(Buffer.from(texts.join('\n')), texts.length);
}

/** Packs events that are lines already. @param lines without a line break at the end. They may be written over afterwards. */
export async function packLines(lines: Buffer, count: number): Promise<PackedEvents> {
  if (lines.length < COMPRESS_FROM) return { count, body: Buffer.from(lines) };
  const compressed = await compress(lines, { level: constants.Z_BEST_SPEED, chunkSize: COMPRESS_PIECE });
  // A copy, because the result is a view of a whole chunk, which would stay in memory with it.
  return { count, body: Buffer.from(compressed) };
}

/** The lines of a batch. @throws when its bytes cannot be decompressed. */
export async function linesOf(body: Uint8Array): Promise<Buffer> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (bytes[0] !== GZIP_MAGIC || bytes.length < LENGTH_BYTES) return bytes;
  // One byte more than there is: zlib takes another chunk as soon as one is full.
  const length = bytes.readUInt32LE(bytes.length - LENGTH_BYTES) + 1;
  return expand(bytes, { chunkSize: Math.max(COMPRESS_FROM, Math.min(EXPAND_PIECE_MAX, length)) });
}

/** @param lines as `linesOf` returns them; they are not to be changed from then on. */
export function readLines(lines: Buffer): BatchContent {
  const content: BatchContent = { events: [], unreadable: [] };
  for (let start = 0; start <= lines.length; ) {
    const found = lines.indexOf(NEWLINE, start);
    const end = found < 0 ? lines.length : found;
    const event = WrittenEvent.read(lines, start, end);
    if (event) content.events.push(event);
    else content.unreadable.push(lines.toString('utf8', start, end));
    start = end + 1;
  }
  return content;
}

/** The events of a batch in their order. @throws when the bytes are not from `packEvents`. */
export async function unpackEvents(body: Uint8Array): Promise<WrittenEvent[]> {
  const { events, unreadable } = readLines(await linesOf(body));
  if (unreadable.length > 0) throw new Error('what is stored is not an event');
  return events;
}

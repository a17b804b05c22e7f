// A captured body as people read it: decoded of its compression, where it is text.

import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { type CapturedBody, type Fields, firstValue } from '../edge/capture/captured.ts';
import type { Context } from './context.ts';

/** Characters, about, of one body that was compressed: what a few bytes make can be a thousand times as large. */
export const DECODED_MAX = 1024 * 1024;
/** Of all of one operation. */
export const DECODED_ALL_MAX = 16 * 1024 * 1024;

/** A body, and the fields that say how it is to be read. */
export interface ShownBody {
  body: CapturedBody;
  fields: Fields;
}

const decoded = new WeakMap<Context, number>();

/** @returns null for what is no text in UTF-8, and for what would be too much in one answer. */
export async function textOf(context: Context, { body, fields }: ShownBody): Promise<string | null> {
  const coding = (firstValue(fields, 'content-encoding') ?? '').trim().toLowerCase();
  if (coding === '' || coding === 'identity' || body.kept.length === 0) return utf8(body.kept);
  const decoder = decoderOf(coding, body.kept);
  if (!decoder) return null;
  const before = decoded.get(context) ?? 0;
  if (before >= DECODED_ALL_MAX) return null;
  // Counted in full before it is known: all bodies of an answer are decoded at the same time.
  decoded.set(context, before + DECODED_MAX);
  const bytes = await decode(decoder, body.kept);
  decoded.set(context, (decoded.get(context) ?? 0) - DECODED_MAX + (bytes?.length ?? 0));
  return bytes && utf8(bytes);
}

/** Of a body whose end is missing, what there is of it. */
function decoderOf(coding: string, bytes: Buffer): Transform | undefined {
  const inflating = { finishFlush: constants.Z_SYNC_FLUSH };
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip(inflating);
  if (coding === 'br') return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
  if (coding !== 'deflate') return undefined;
  // With the frame of zlib around it, which some leave out (RFC 9110, section 8.4.1.2).
  return ((bytes[0] as number) & 0x0f) === 8 ? createInflate(inflating) : createInflateRaw(inflating);
}

async function decode(decoder: Transform, bytes: Buffer): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let length = 0;
  decoder.end(bytes);
  try {
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      if (length >= DECODED_MAX) break;
    }
  } catch {
    return null; // It is not what it says.
  }
  return Buffer.concat(pieces).subarray(0, DECODED_MAX);
}

/** A character that is cut at the end is left out. */
function utf8(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}

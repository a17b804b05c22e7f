// A captured body as people read it: decoded of its compression, where it is text.

import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { type BodyCapture, type FieldPairs, firstValue } from '../../../capture/captured-request.ts';
import type { Context } from '../../context.ts';
import { chargeBytes, mayIncludeText } from './response-budget.ts';

/** Bytes of the text of one body that was compressed: what a few bytes make can be a thousand times as large. */
const DECODED_MAX = 1024 * 1024;

/** A body, and the fields that say how it is to be read. */
export interface ShownBody {
  body: BodyCapture;
  fields: FieldPairs;
}

/** A text, and how many bytes it takes in an answer: what JSON escapes can be six times as large. */
interface Text {
  text: string;
  bytes: number;
}

/** The bodies that an operation reads now, one after the other. */
interface Reading {
  last: Promise<unknown>;
  texts: Map<BodyCapture, Promise<Text | null>>;
}

const readings = new WeakMap<Context, Reading>();
const done = () => {};

/** @throws {ApiError} when it would be too much in one answer. */
export function base64Of(context: Context, { body }: ShownBody): string {
  chargeBytes(context, Math.ceil(body.kept.length / 3) * 4);
  return body.kept.toString('base64');
}

/** @returns null for what is no text in UTF-8, and for what would be too much in one answer. */
export async function textOf(context: Context, shown: ShownBody): Promise<string | null> {
  const text = await reading(context, shown);
  return text && mayIncludeText(context, text.bytes) ? text.text : null;
}

/** A body is read once for all who ask meanwhile; and when the ones before it are done, as each takes memory. */
function reading(context: Context, shown: ShownBody): Promise<Text | null> {
  const { last, texts } = readings.get(context) ?? { last: Promise.resolve(), texts: new Map() };
  const already = texts.get(shown.body);
  if (already) return already;
  const text = last.then(() => read(context, shown)).finally(() => texts.delete(shown.body));
  readings.set(context, { last: text.then(done, done), texts: texts.set(shown.body, text) });
  return text;
}

async function read(context: Context, { body, fields }: ShownBody): Promise<Text | null> {
  if (!mayIncludeText(context, 0)) return null; // Nor is it worth the reading.
  const coding = (firstValue(fields, 'content-encoding') ?? '').trim().toLowerCase();
  const isPlain = coding === '' || coding === 'identity' || body.kept.length === 0;
  const decoder = isPlain ? undefined : decoderOf(coding, body.kept);
  const bytes = isPlain ? body.kept : decoder && (await decode(decoder, body.kept));
  const text = bytes ? utf8(bytes) : null;
  return text === null ? null : { text, bytes: Buffer.byteLength(JSON.stringify(text)) };
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

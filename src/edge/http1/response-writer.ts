// The pieces in which messages are sent on: as they came where that is possible, and as few as possible where not.

import { pieceOf } from '../codec/bytes.ts';
import { relayedResponseHead } from '../codec/relayed-response-head.ts';
import type { ResponseHead } from '../codec/response-head.ts';
import type { RequestRecording } from '../reports/request-recording.ts';

/** What of a body came with its head is copied behind it up to this size, so that both are written as one. */
export const JOIN_MAX = 16 * 1024;

/** The connection that an answer goes to. */
export interface ResponseTarget {
  /** The head of the answer, as it was read. */
  readonly answer: ResponseHead;
  write(bytes: Buffer): void;
}

export interface ResponsePiece {
  /** What the upstream sent last. */
  chunk: Buffer;
  /** Where the part of the head begins that is in it. */
  from: number;
  headEnd: number;
  /** After what of the body is in it. */
  end: number;
  closes: boolean;
  isToHttp10: boolean;
}

/**
 * Sends on the head of an answer, which the connection has read, and the beginning of its body.
 * @param recording is told of the head as it is sent.
 */
export function writeResponse(
  connection: ResponseTarget,
  { chunk, from, headEnd, end, closes, isToHttp10 }: ResponsePiece,
  recording?: RequestRecording,
): void {
  const head = connection.answer;
  const joined = end - headEnd <= JOIN_MAX ? end : headEnd;
  const rewritten = relayedResponseHead(head, closes, isToHttp10, chunk, headEnd, joined);
  if (recording) {
    const sent =
      rewritten?.subarray(0, rewritten.length - joined + headEnd) ?? head.bytes.subarray(head.start, head.end);
    recording.responseStarted(head.status, sent.toString('latin1'));
  }
  if (!rewritten && head.bytes === chunk) return void connection.write(pieceOf(chunk, from, end));
  connection.write(rewritten ?? head.bytes.subarray(head.start, head.end));
  const rest = rewritten ? joined : headEnd;
  if (rest < end) connection.write(chunk.subarray(rest, end));
}

/** Sends a head that was made anew, and the beginning of the body. */
export function writeChangedResponse(connection: ResponseTarget, head: Buffer, body: Buffer): void {
  if (body.length <= JOIN_MAX) return void connection.write(Buffer.concat([head, body]));
  connection.write(head);
  connection.write(body);
}

/** Sends on a head after which the answer is still to come, or none of HTTP. @returns it, as it is sent. */
export function writeInterim(connection: ResponseTarget): Buffer {
  const head = connection.answer;
  const sent = relayedResponseHead(head, false, false) ?? head.bytes.subarray(head.start, head.end);
  connection.write(sent);
  return sent;
}

// Calls into `node:http2` with what others sent. It throws where it does not like a status or a field, and nobody above
// would catch that: whatever is answered to a visitor, and asked of an upstream, goes through here.

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  constants,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
  type ServerStreamResponseOptions,
} from 'node:http2';
import { reportDefect } from '../../../protocol/defect.ts';

/** What Node lets an answer have (RFC 9110, section 15, knows no class above 5xx). */
const NODE_STATUS_MAX = 599;
/** Sent in place of it, and replaced: it allows a body, as all others above do. */
const PLACEHOLDER = 200;

/** Whether an answer has no content, whatever it says (RFC 9110, section 15.3.5, 15.3.6, 15.4.5); Node ends it by itself. */
export function hasNoContent(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/**
 * Begins an answer, unless its visitor is gone. One without content is ended, and states no length (a 304 may).
 * @returns false when it could not be begun: nothing of it was sent, and the stream is to be answered otherwise, or ended.
 */
export function respond(
  stream: ServerHttp2Stream,
  status: number,
  fields: OutgoingHttpHeaders,
  options: ServerStreamResponseOptions = {},
): boolean {
  if (isGone(stream)) return true;
  if (status === 204 || status === 205) delete fields['content-length'];
  const all = { ':status': status, ...fields };
  const suited = hasNoContent(status) ? { endStream: true } : options;
  try {
    if (status <= NODE_STATUS_MAX) stream.respond(all, suited);
    else respondBeyond(stream, status, all, suited);
    return true;
  } catch (error) {
    reportDefect(error);
    return false;
  }
}

/** Sends an answer that precedes the answer proper, unless the visitor is gone or has that one already. */
export function inform(stream: ServerHttp2Stream, status: number, fields: OutgoingHttpHeaders = {}): void {
  if (isGone(stream) || stream.headersSent) return;
  try {
    stream.additionalHeaders({ ':status': status, ...fields });
  } catch (error) {
    reportDefect(error); // It may be left out (RFC 9110, section 15.2).
  }
}

/** Ends an answer with its trailer; with a RST_STREAM where that cannot be sent. To be called on `wantTrailers`. */
export function sendTrailers(stream: ServerHttp2Stream | ClientHttp2Stream, fields: OutgoingHttpHeaders): void {
  if (isGone(stream)) return;
  try {
    stream.sendTrailers(fields);
  } catch (error) {
    reportDefect(error);
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }
}

/** Begins a request. @returns undefined when the session takes no more requests, or not this one. */
export function request(
  session: ClientHttp2Session,
  fields: OutgoingHttpHeaders,
  options: ClientSessionRequestOptions,
): ClientHttp2Stream | undefined {
  if (session.closed || session.destroyed) return undefined;
  try {
    return session.request(fields, options);
  } catch (error) {
    reportDefect(error);
    return undefined;
  }
}

function isGone(stream: ServerHttp2Stream | ClientHttp2Stream): boolean {
  return stream.closed || stream.destroyed;
}

/** What Node gives to nghttp2: names, values and flags with a NUL after each of the first two, and how many there are. */
type FieldBlock = [text: string, count: number];
interface StreamHandle {
  respond?(block: FieldBlock, options: number): number;
}

/**
 * The same with a status that only Node refuses: nghttp2 and visitors take any of three digits. Node has no way to say it,
 * so it is put where Node passes the fields on. @throws where this Node passes them on otherwise.
 */
function respondBeyond(
  stream: ServerHttp2Stream,
  status: number,
  fields: OutgoingHttpHeaders,
  options: ServerStreamResponseOptions,
): void {
  const key = Object.getOwnPropertySymbols(stream).find(({ description }) => description === 'kHandle');
  const handle = key && (stream as unknown as Record<symbol, StreamHandle | undefined>)[key];
  const send = handle?.respond;
  if (!handle || !send) throw new Error(`this Node cannot answer over HTTP/2 with the status ${status}`);
  const before = `:status\0${PLACEHOLDER}\0`;
  handle.respond = ([text, count], flags) => {
    if (!text.startsWith(before)) return -1; // An error to Node, which ends the stream.
    return send.call(handle, [`:status\0${status}\0${text.slice(before.length)}`, count], flags);
  };
  try {
    stream.respond({ ...fields, ':status': PLACEHOLDER }, options);
  } finally {
    delete handle.respond; // The one of its prototype shows again.
  }
}

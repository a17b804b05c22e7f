// Requests of HTTP/1.1, as Node's own server reads them, made to a service that speaks HTTP/2, and its answers.

import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import { isFramingField } from '../../../http/header-list.ts';
import { guarded } from '../../../protocol/defect.ts';
import { toHttp2Fields } from '../../codec/http2/fields.ts';
import { hasNoContent, request, sendTrailers } from '../../codec/http2/stream-calls.ts';
import type { Http1Side } from './http1-side.ts';

/** Bytes that may wait for the user while answers such as 103 are passed on. */
const INTERIMS_MAX = 64 * 1024;

interface Ends {
  user: Http1Side;
  session: ClientHttp2Session;
}

const ends = new WeakMap<Duplex, Ends>();

/** Whatever comes here was read strictly before, and is timed by whoever waits for it. */
const server = createServer({ maxHeaderSize: 96 * 1024, requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
server.maxHeadersCount = 0;
server.on('request', carry);
server.on('checkContinue', carry);
server.on('clientError', (_, socket) => socket.destroy());

/** Serves the requests that come out of `user`, over `session`. */
export function translate(user: Http1Side, session: ClientHttp2Session): void {
  ends.set(user, { user, session });
  server.emit('connection', user);
}

function carry(incoming: IncomingMessage, response: ServerResponse): void {
  const { user, session } = ends.get(incoming.socket) as Ends;
  const { 'content-length': length = '0', 'transfer-encoding': coding } = incoming.headers;
  const hasBody = coding !== undefined || Number(length) > 0;
  user.isBusy = true;
  response.once('finish', () => {
    user.isBusy = false;
    if (session.closed) user.end();
  });
  response.sendDate = false;
  incoming.on('error', () => {}); // Its end is the user's, who knows.
  response.on('error', () => {});
  const stream = request(session, requestFields(incoming), { endStream: !hasBody, waitForTrailers: hasBody });
  if (!stream) return void user.abort();
  answer(stream, response, user);
  if (!hasBody) return;
  stream.on('wantTrailers', () => sendTrailers(stream, toHttp2Fields(pairs(incoming.rawTrailers))));
  incoming.pipe(stream);
}

type Fields = [name: string, value: string][];
type AnswerFields = IncomingHttpHeaders & IncomingHttpStatusHeader;

function answer(stream: ClientHttp2Stream, response: ServerResponse, user: Http1Side): void {
  let isComplete = false;
  /** What cannot be said in HTTP/1.1 ends this answer, and nothing else. */
  const on = <Args extends unknown[]>(event: string, listener: (...args: Args) => void) =>
    stream.on(
      event,
      guarded(() => void stream.destroy(), listener),
    );
  on('headers', ({ ':status': status }: AnswerFields, _flags: number, raw: string[] = []) => {
    // Node would write some of them, and of those some of their fields. Who does not read them can do without.
    if (user.writableLength < INTERIMS_MAX) user.write(interimHead(status ?? 0, pairs(raw)), 'latin1');
  });
  on('response', ({ ':status': status = 0 }: AnswerFields, flags: number, raw: string[] = []) => {
    if (status < 200) return void stream.destroy(); // To nghttp2 a status is any three digits.
    const isWhole = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    response.writeHead(status, answerLines(pairs(raw), status, response, isWhole).flat());
    response.flushHeaders();
    // Not before: what is read in the same turn as the head would come first.
    on('data', (chunk: Buffer) => {
      if (!response.write(chunk)) stream.pause();
    });
  });
  response.on('drain', () => stream.resume());
  on('trailers', (_: IncomingHttpHeaders, _flags: number, raw: string[] = []) => {
    response.addTrailers(pairs(raw).filter(([name]) => !isFramingField(name)));
  });
  on('end', () => {
    isComplete = stream.rstCode === 0 && response.headersSent;
    if (isComplete) response.end();
  });
  stream.on('error', () => {}); // `close` follows.
  stream.on('close', () => {
    if (!isComplete) user.abort();
  });
  response.on('close', () => {
    if (!response.writableFinished) stream.destroy();
  });
}

/**
 * Only a body in chunks has a trailer in HTTP/1.1.
 * @param isWhole whether nothing follows the head, as in all errors of gRPC: HTTP/1.1 says so by the length.
 */
function answerLines(fields: Fields, status: number, { req }: ServerResponse, isWhole: boolean): Fields {
  const saysLength =
    req.method === 'HEAD' || hasNoContent(status) || fields.some(([name]) => name === 'content-length');
  if (!saysLength && !isWhole) return fields;
  const lines = fields.filter(([name]) => name !== 'trailer');
  return saysLength ? lines : [...lines, ['content-length', '0']];
}

/** An answer such as 103, with all that it says. */
function interimHead(status: number, fields: Fields): string {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
}

function requestFields(incoming: IncomingMessage): OutgoingHttpHeaders {
  const { host, ...rest } = toHttp2Fields(pairs(incoming.rawHeaders));
  return {
    ...rest,
    ...(incoming.headers.te === 'trailers' ? { te: 'trailers' } : {}),
    ':method': incoming.method,
    ':path': incoming.url,
    ':scheme': 'http',
    ':authority': String(host ?? ''),
  };
}

/** Names and values in pairs, without those that begin with a colon. */
function pairs(raw: readonly string[]): Fields {
  const all: Fields = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (!name.startsWith(':')) all.push([name, raw[i + 1] as string]);
  }
  return all;
}

// Requests of HTTP/1.1, as Node's own server reads them, made to a service that speaks HTTP/2, and its answers.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
  OutgoingHttpHeaders,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import { toFields } from './answer-fields.ts';
import type { UserEnd } from './user-end.ts';

interface Ends {
  user: UserEnd;
  session: ClientHttp2Session;
}

const ends = new WeakMap<Duplex, Ends>();

/** Whatever comes here was read strictly before, and is timed by whoever waits for it. */
const server = createServer({ maxHeaderSize: 96 * 1024, requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
server.maxHeadersCount = 0;
server.on('request', (request: IncomingMessage, response: ServerResponse) => carry(request, response));
server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => carry(request, response));
server.on('clientError', (_, socket) => socket.destroy());

/** Serves the requests that come out of `user`, over `session`. */
export function translate(user: UserEnd, session: ClientHttp2Session): void {
  ends.set(user, { user, session });
  server.emit('connection', user);
}

function carry(request: IncomingMessage, response: ServerResponse): void {
  const { user, session } = ends.get(request.socket) as Ends;
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  user.isBusy = true;
  response.once('finish', () => {
    user.isBusy = false;
    if (session.closed) user.end();
  });
  response.sendDate = false;
  let stream: ClientHttp2Stream;
  try {
    stream = session.request(requestFields(request), { endStream: !hasBody, waitForTrailers: hasBody });
  } catch {
    return void user.destroy(); // The session is over.
  }
  answer(stream, response, user);
  if (!hasBody) return;
  stream.on('wantTrailers', () => stream.sendTrailers(toFields(pairs(request.rawTrailers))));
  request.pipe(stream);
}

function answer(stream: ClientHttp2Stream, response: ServerResponse, user: UserEnd): void {
  let isComplete = false;
  stream.on('continue', () => response.writeContinue());
  stream.on('headers', ({ ':status': status, link }: IncomingHttpHeaders & IncomingHttpStatusHeader) => {
    if (status === 103 && link !== undefined) response.writeEarlyHints({ link });
  });
  stream.on('response', (fields: IncomingHttpHeaders & IncomingHttpStatusHeader, _flags: number, raw?: string[]) => {
    response.writeHead(fields[':status'] ?? 502, raw ? pairs(raw).flat() : []);
    response.flushHeaders();
    // Not before: what is read in the same turn as the head would come first.
    stream.on('data', (chunk: Buffer) => {
      if (!response.write(chunk)) stream.pause();
    });
  });
  response.on('drain', () => stream.resume());
  stream.on('trailers', (fields: IncomingHttpHeaders) => {
    response.addTrailers(
      Object.entries(fields).flatMap(([name, value]) => [value ?? []].flat().map((each) => [name, each])) as [
        string,
        string,
      ][],
    );
  });
  stream.on('end', () => {
    isComplete = stream.rstCode === 0;
    if (isComplete) response.end();
  });
  stream.on('error', () => {}); // `close` follows.
  stream.on('close', () => {
    if (!isComplete) user.destroy();
  });
  response.on('close', () => {
    if (!response.writableFinished) stream.destroy();
  });
}

function requestFields(request: IncomingMessage): OutgoingHttpHeaders {
  const { host, connection: _, expect, ...rest } = toFields(pairs(request.rawHeaders));
  const te = rest.te === 'trailers' ? { te: 'trailers' } : {};
  delete rest.te;
  return {
    ...rest,
    ...te,
    ...(expect === undefined ? {} : { expect }),
    ':method': request.method,
    ':path': request.url,
    ':scheme': 'http',
    ':authority': String(host ?? ''),
  };
}

/** Names and values in pairs, without those that begin with a colon. */
function pairs(raw: readonly string[]): [name: string, value: string][] {
  const all: [string, string][] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (!name.startsWith(':')) all.push([name, raw[i + 1] as string]);
  }
  return all;
}

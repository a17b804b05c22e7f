// What Node's parser refuses, and CONNECT, which it leaves to others, are answered like everything else: with the error body
// of REST, and a line in the log.

import { type IncomingMessage, maxHeaderSize, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { newId } from '../../store/ids.ts';
import { ipOf } from '../../tunnel/network/peer.ts';
import { ApiError } from '../errors/errors.ts';
import type { ApiConnections } from './connections.ts';
import type { ApiMetrics } from './metrics.ts';
import { errorBody } from './responses.ts';

/** How long a client may take for such an answer. */
const LINGER_MS = 2000;
/** The length of `HTTP/`, a version, and what follows, of which Node's parser has read a part when it refuses it. */
const VERSION_MAX = 10;
const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
  505: 'HTTP Version Not Supported',
};

/** Answers the errors of a server's parser, as far as there is somebody to answer. */
export function respondToClientErrors(
  server: Server,
  connections: ApiConnections,
  log: Logger,
  metrics: ApiMetrics,
): void {
  server.on('clientError', (thrown: ParserError, socket: Socket) => {
    const response = connections.responseOn(socket);
    // The bytes of an answer that has begun, or that others are before, must not be mixed with these.
    if (!socket.writable || socket.writableEnded || response === null || response?.headersSent)
      return void socket.destroy();
    const error = errorFor(thrown);
    const operationId = newId('op');
    const text = JSON.stringify(errorBody(error, operationId, 'documented'));
    metrics.request('', error.status, 0);
    log.info(
      {
        operation_id: operationId,
        status: error.status,
        ip: ipOf(socket),
        error_code: error.extensions.errorCode,
        reason: thrown.code,
      },
      'request refused',
    );
    socket.setTimeout(LINGER_MS, () => socket.destroy());
    socket.end(
      [
        `HTTP/1.1 ${error.status} ${REASONS[error.status]}`,
        'Content-Type: application/json; charset=utf-8',
        `Content-Length: ${Buffer.byteLength(text)}`,
        'Cache-Control: no-store',
        'X-Content-Type-Options: nosniff',
        `Service-Operation-Id: ${operationId}`,
        'Connection: close',
        '',
        text,
      ].join('\r\n'),
    );
  });
}

/** Answers a request; of one that asks for a WebSocket it also gets what came behind its head. */
export type UpgradeListener = (...args: [...Parameters<RequestListener>, head?: Buffer]) => void;

/**
 * Answers CONNECT, for which Node closes the connection when nobody listens, and requests for WebSockets.
 * @param Response the class of the listener's responses.
 * @param respond answers a request that its connection has got to. The connection ends with the answer, unless it takes the
 *   response off its socket, as it does for a WebSocket.
 */
export function respondToConnect(
  server: Server,
  connections: ApiConnections,
  Response: new (request: IncomingMessage) => ServerResponse,
  respond: UpgradeListener,
): void {
  const listen = (isUpgrade: boolean) => (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
    const socket = duplex as Socket;
    // Node has taken its own listeners away, which answers that are under way need still.
    socket.on('error', () => {}).on('drain', () => connections.currentResponse(socket)?.emit('drain'));
    if (!isUpgrade) socket.resume(); // What the client sends is for the server that it wants to be connected with.
    const response = new Response(request);
    response.shouldKeepAlive = false;
    connections.enqueue(request, response, () => {
      response.assignSocket(socket);
      response.once('finish', () => {
        const deadline = setTimeout(() => socket.destroy(), LINGER_MS);
        socket.once('close', () => clearTimeout(deadline)).end();
      });
      respond(request, response as Parameters<RequestListener>[1], isUpgrade ? head : undefined);
    });
  };
  server.on('connect', listen(false));
  server.on('upgrade', listen(true));
}

/** As Node gives it: with the bytes that it was reading, and how far it came in them. */
interface ParserError extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
  bytesParsed?: number;
}

function errorFor({ code, message, rawPacket, bytesParsed = 0 }: ParserError): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('headTooLarge', { max: maxHeaderSize });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('requestTooSlow');
    case 'HPE_PAUSED_H2_UPGRADE':
      return new ApiError('httpVersionNotSupported');
    case 'HPE_INVALID_VERSION': {
      // A version that is none is a malformed request, except for what begins like a later one.
      const read = rawPacket?.toString('latin1', Math.max(0, bytesParsed - VERSION_MAX), bytesParsed + 1) ?? '';
      if (message.endsWith('Invalid HTTP version') || /HTTP\/([2-9]|\d\d)/.test(read))
        return new ApiError('httpVersionNotSupported');
      return malformed(message);
    }
    default:
      return malformed(message);
  }
}

function malformed(message: string): ApiError {
  return new ApiError('malformedRequest', { reason: message.replace(/^Parse Error:? ?/, '') || 'unreadable' });
}

// What Node's parser refuses is answered like everything else: with the error body of REST, and a line in the log.

import type { Server } from 'node:http';
import { maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { newId } from '../../store/ids.ts';
import { ipOf } from '../../tunnel/network/peer.ts';
import { ApiError } from '../errors/errors.ts';
import type { ApiConnections } from './connections.ts';
import type { ApiMetrics } from './metrics.ts';
import { errorBody } from './responses.ts';

/** How long a client may take for such an answer. */
const LINGER_MS = 2000;
const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
};

/** Answers the errors of a server's parser, as far as there is somebody to answer. */
export function respondToClientErrors(
  server: Server,
  connections: ApiConnections,
  log: Logger,
  metrics: ApiMetrics,
): void {
  server.on('clientError', (thrown: NodeJS.ErrnoException, socket: Socket) => {
    const response = connections.responseOn(socket);
    // The bytes of an answer that has begun, or that others are before, must not be mixed with these.
    if (!socket.writable || socket.writableEnded || response === null || response?.headersSent)
      return void socket.destroy();
    const error = errorFor(thrown);
    const operationId = newId('op');
    const text = JSON.stringify(errorBody(error, operationId));
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

function errorFor({ code, message }: NodeJS.ErrnoException): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('headTooLarge', { max: maxHeaderSize });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('requestTooSlow');
    default:
      return new ApiError('malformedRequest', { reason: message.replace(/^Parse Error:? ?/, '') || 'unreadable' });
  }
}

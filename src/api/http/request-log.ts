// One line and one count for every request.

import type { ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { describeFailure } from '../../runtime/describe-failure.ts';
import type { ApiExchange } from '../exchange.ts';
import type { ApiMetrics } from './metrics.ts';

/** The status of a request whose client was gone before its answer was written. */
const CLIENT_CLOSED_REQUEST = 499;
const SWITCHING_PROTOCOLS = 101;

/**
 * Called when a request is over.
 * @param ms how long it took.
 * @param status left out: that of its response.
 */
export type ApiRequestLogger = (exchange: ApiExchange, ms: number, status?: number) => void;

/** Makes what is called when a request is over. */
export function createRequestLogger(log: Logger, metrics: ApiMetrics): ApiRequestLogger {
  // The members of a request's line are all known here, and none is a secret.
  const lines = log.child({}, { redact: [] });

  return ({ request, response, operationId, clientIp, log: fields }, ms, status = statusOf(response)) => {
    const { errorCode, failure, keyId, sessionId, accountId, operation, signIns, close } = fields;
    metrics.request(request.method ?? '', status, ms);
    const line = {
      operation_id: operationId,
      method: request.method,
      path: request.url?.split('?', 1)[0],
      ip: clientIp,
      operation,
      status,
      ms: Math.round(ms * 100) / 100,
      account_id: accountId,
      key_id: keyId,
      session_id: sessionId,
      sign_ins: signIns?.map(({ userId, ...signIn }) => ({ ...signIn, user_id: userId })),
      error_code: errorCode,
      close_code: close?.code,
      close_reason: close?.reason,
    };
    if (failure === undefined) lines.info(line, 'request');
    else log.error({ ...line, err: describeFailure(failure) }, 'request failed');
  };
}

/** Of a WebSocket the response is never written. */
function statusOf({ writableFinished, statusCode }: ServerResponse): number {
  return writableFinished || statusCode === SWITCHING_PROTOCOLS ? statusCode : CLIENT_CLOSED_REQUEST;
}

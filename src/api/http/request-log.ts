// One line and one count for every request.

import type { Logger } from 'pino';
import { describeFailure } from '../../runtime/describe-failure.ts';
import type { ApiExchange } from '../exchange.ts';
import type { ApiMetrics } from './metrics.ts';

/** The status of a request whose client was gone before its answer was written. */
const CLIENT_CLOSED_REQUEST = 499;

/** @returns what to call when a request is over, with how long it took in milliseconds. */
export function createRequestLogger(log: Logger, metrics: ApiMetrics): (exchange: ApiExchange, ms: number) => void {
  // The members of a request's line are all known here, and none is a secret.
  const lines = log.child({}, { redact: [] });

  return ({ request, response, operationId, clientIp, log: fields }, ms) => {
    const { errorCode, failure, keyId, sessionId, accountId, operation, signIns } = fields;
    const status = response.writableFinished ? response.statusCode : CLIENT_CLOSED_REQUEST;
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
    };
    if (failure === undefined) lines.info(line, 'request');
    else log.error({ ...line, err: describeFailure(failure) }, 'request failed');
  };
}

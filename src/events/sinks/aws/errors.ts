// The one table of what failures of AWS requests mean for delivery.

import { networkReason } from '../http/network-errors.ts';
import { responseError } from '../http/response-errors.ts';
import { type FailureKind, type Reason, type Rejection, SinkError, toShortLine } from '../sink.ts';

/** Failures of all services by the name of the AWS error. Others are classified by their status. */
const kinds: Record<FailureKind, readonly string[]> = {
  retry: [
    'ConcurrentModificationException',
    'InternalFailure',
    'InternalFailureException',
    'InternalServerException',
    'KMSThrottlingException',
    'LimitExceededException',
    'OperationAbortedException',
    'PriorRequestNotComplete',
    'ProvisionedThroughputExceededException',
    'RequestExpired',
    'RequestLimitExceeded',
    'RequestThrottled',
    'RequestThrottledException',
    'RequestTimeout',
    'RequestTimeoutException',
    'RequestTimeTooSkewed',
    'ResourceInUseException',
    'ServiceQuotaExceededException',
    'ServiceUnavailable',
    'ServiceUnavailableException',
    'SlowDown',
    'ThrottledException',
    'Throttling',
    'ThrottlingException',
    'TooManyRequestsException',
  ],
  split: ['InvalidArgumentException', 'InvalidParameterException', 'ValidationException'],
  config: [
    'AccessDenied',
    'AccessDeniedException',
    'ExpiredToken',
    'ExpiredTokenException',
    'IncompleteSignature',
    'IncompleteSignatureException',
    'InvalidClientTokenId',
    'InvalidKMSResourceException',
    'InvalidSignatureException',
    'InvalidSourceException',
    'KMSAccessDeniedException',
    'KMSDisabledException',
    'KMSInvalidStateException',
    'KMSNotFoundException',
    'KMSOptInRequired',
    'MissingAuthenticationToken',
    'MissingAuthenticationTokenException',
    'NotAuthorized',
    'OptInRequired',
    'RegionDisabledException',
    'ResourceNotFoundException',
    'SignatureDoesNotMatch',
    'SubscriptionRequiredException',
    'TokenRefreshRequired',
    // An unknown operation means that another service answered, so no event caused it.
    'UnknownOperationException',
    'UnrecognizedClientException',
  ],
};

const byName = new Map<string, FailureKind>(
  Object.entries(kinds).flatMap(([kind, names]) => names.map((name) => [name, kind as FailureKind] as const)),
);

/** The errors of a session that has expired or was revoked. */
const EXPIRED = new Set(['ExpiredToken', 'ExpiredTokenException', 'TokenRefreshRequired']);

/** The name that the SDK gives to a response without an error name. */
const UNNAMED = new Set(['Error', 'SyntaxError', 'Unknown']);

/** The start of the explanation of a wrong signature, which holds the signed request with its host and session token. */
const SIGNED = /The (Canonical String|String-to-Sign)\b.*$/s;

/** The members of the SDK's errors that are used here. */
interface Thrown {
  name?: string;
  message?: string;
  /** The code of a network error. */
  code?: string;
  $metadata?: { httpStatusCode?: number; clockSkewCorrected?: boolean };
  $response?: { headers?: Record<string, string> };
}

/**
 * @param thrown by a client of AWS.
 * @param now the wall clock, in milliseconds.
 */
export function awsFailure(thrown: unknown, now: number): SinkError {
  if (thrown instanceof SinkError) return thrown;
  const { name = '', message = '', code, $metadata, $response } = thrown as Thrown;
  const status = $metadata?.httpStatusCode;
  // A connection that ends within the response also has a status, but its error is unknown.
  if (status === undefined || code) return new SinkError('retry', unanswered(thrown as Thrown));
  const isNamed = !UNNAMED.has(name);
  const said = name === 'SyntaxError' || message === 'UnknownError' ? '' : message.replace(SIGNED, '');
  const byStatus = responseError({ status, headers: $response?.headers ?? {} }, said, now);
  const isElsewhere = status >= 300 && status < 400;
  // The clock is wrong. The client has corrected it by the response, and signs the next request with the right time.
  const isSkewed = $metadata?.clockSkewCorrected;
  const kind = isSkewed ? 'retry' : (byName.get(name) ?? (isElsewhere ? 'config' : byStatus.kind));
  const reason = { code: isNamed ? name : byStatus.code, message: (isNamed && toShortLine(said)) || byStatus.message };
  return new SinkError(kind, reason, byStatus.retryAfter);
}

function unanswered({ name = '', message = '', code }: Thrown): Reason {
  // The SDK also reports connection resets as timeouts.
  if (name === 'TimeoutError') return networkReason({ code: code ?? 'ETIMEDOUT' });
  if (name === 'AbortError') return { ...networkReason({ code: 'ABORT_ERR' }), code: name };
  return code ? networkReason({ code }) : { code: name || 'Error', message: toShortLine(message) };
}

/** The failure of a request without events, which no event can have caused, whatever its name. */
export function withoutEvents(failure: SinkError): SinkError {
  if (failure.kind !== 'split') return failure;
  return new SinkError('config', failure, failure.retryAfter);
}

export function isExpiredSession({ code }: SinkError): boolean {
  return EXPIRED.has(code);
}

/** The result of one record in the response to a batch. */
interface RecordAnswer {
  ErrorCode?: string;
  ErrorMessage?: string;
}

/**
 * The records that were rejected. The SDK does not throw for them.
 * @throws {SinkError} when the response does not have a result for each record, or contradicts its own count.
 */
export function rejectedRecords(answers: readonly RecordAnswer[] | undefined, sent: number, failed = 0): Rejection[] {
  const rejections = (answers ?? []).flatMap(({ ErrorCode, ErrorMessage }, index) =>
    ErrorCode ? [{ index, fate: 'retry' as const, code: ErrorCode, message: toShortLine(ErrorMessage ?? '') }] : [],
  );
  if (answers?.length === sent && rejections.length >= failed) return rejections;
  throw new SinkError('retry', { code: 'BadAnswer', message: 'the answer does not tell what became of each record' });
}

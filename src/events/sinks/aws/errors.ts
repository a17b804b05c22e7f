// What the failures of requests to AWS mean for delivery: the one table.

import { networkReason } from '../http/network-errors.ts';
import { responseError } from '../http/response-errors.ts';
import { type FailureKind, type Reason, type Rejection, SinkError, toShortLine } from '../sink.ts';

/** By the names that AWS gives them, of all of its services; what is not here goes by its status. */
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
    // What asks for an operation that is not there was answered by another service: no event is to blame.
    'UnknownOperationException',
    'UnrecognizedClientException',
  ],
};

const byName = new Map<string, FailureKind>(
  Object.entries(kinds).flatMap(([kind, names]) => names.map((name) => [name, kind as FailureKind] as const)),
);

/** The session that the request was made with is over, or was revoked. */
const EXPIRED = new Set(['ExpiredToken', 'ExpiredTokenException', 'TokenRefreshRequired']);

/** What the SDK calls an answer that AWS gave no name. */
const UNNAMED = new Set(['Error', 'SyntaxError', 'Unknown']);

/** What a refused signature is explained with: the request as it was signed, with its host and its session token. */
const SIGNED = /The (Canonical String|String-to-Sign)\b.*$/s;

/** What the SDK throws, as far as it can be relied on. */
interface Thrown {
  name?: string;
  message?: string;
  /** Of the network. */
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
  // With a status, too, when the connection ended within the answer: what it would have said is not known.
  if (status === undefined || code) return new SinkError('retry', unanswered(thrown as Thrown));
  const isNamed = !UNNAMED.has(name);
  const said = name === 'SyntaxError' || message === 'UnknownError' ? '' : message.replace(SIGNED, '');
  const byStatus = responseError({ status, headers: $response?.headers ?? {} }, said, now);
  const isElsewhere = status >= 300 && status < 400;
  // A wrong clock: the client has set its own by the answer, and signs the next request with the right time.
  const isSkewed = $metadata?.clockSkewCorrected;
  const kind = isSkewed ? 'retry' : (byName.get(name) ?? (isElsewhere ? 'config' : byStatus.kind));
  const reason = { code: isNamed ? name : byStatus.code, message: (isNamed && toShortLine(said)) || byStatus.message };
  return new SinkError(kind, reason, byStatus.retryAfter);
}

function unanswered({ name = '', message = '', code }: Thrown): Reason {
  // The SDK calls resets time-outs, too.
  if (name === 'TimeoutError') return networkReason({ code: code ?? 'ETIMEDOUT' });
  if (name === 'AbortError') return { ...networkReason({ code: 'ABORT_ERR' }), code: name };
  return code ? networkReason({ code }) : { code: name || 'Error', message: toShortLine(message) };
}

/** For requests without events: none of these is to blame for their failure, however it is worded. */
export function withoutEvents(failure: SinkError): SinkError {
  if (failure.kind !== 'split') return failure;
  return new SinkError('config', failure, failure.retryAfter);
}

export function isExpiredSession({ code }: SinkError): boolean {
  return EXPIRED.has(code);
}

/** What a batch answers of one record. */
interface RecordAnswer {
  ErrorCode?: string;
  ErrorMessage?: string;
}

/**
 * The records that were not taken: the SDK resolves although they failed.
 * @throws {SinkError} when the answer does not tell of each record, or denies what it counts.
 */
export function rejectedRecords(answers: readonly RecordAnswer[] | undefined, sent: number, failed = 0): Rejection[] {
  const rejections = (answers ?? []).flatMap(({ ErrorCode, ErrorMessage }, index) =>
    ErrorCode ? [{ index, fate: 'retry' as const, code: ErrorCode, message: toShortLine(ErrorMessage ?? '') }] : [],
  );
  if (answers?.length === sent && rejections.length >= failed) return rejections;
  throw new SinkError('retry', { code: 'BadAnswer', message: 'the answer does not tell what became of each record' });
}

// The HTTP client of the GraphQL API: one POST per operation, named by its id. Except for downloads (download.ts), nothing
// else in the dashboard sends requests.

import { syncClock } from '../clock.ts';
import { ApiFailure, failureInResponse } from './api-failure.ts';
import { readEvents } from './event-stream.ts';
import type { Operation } from './operation.ts';
import { pageSecret, storePageSecret } from './page-secret.ts';

export { ApiFailure, type MemberProblem, toApiFailure } from './api-failure.ts';

/** How long a response may take. The slowest operations of the API respond within 30 s. */
const REQUEST_TIMEOUT_MS = 40_000;

const unauthenticatedListeners = new Set<() => void>();

/**
 * Calls the listener when a request shows that the session has ended.
 * @returns a function that removes the listener.
 */
export function onUnauthenticated(listener: () => void): () => void {
  unauthenticatedListeners.add(listener);
  return () => unauthenticatedListeners.delete(listener);
}

/** Executes a query or a mutation. @throws ApiFailure */
export async function execute<Result, Variables>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Result> {
  const secret = pageSecret();
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const response = await post(operation, variables, 'application/json', secret, anySignal(signal, timeout));
  const body = await parseResponse<Result>(response);
  const failure = failureInResponse(body, statusAndRetryAfter(response));
  if (failure) throw reportIfUnauthenticated(failure, secret);
  if (!body.data) throw malformedResponse(response);
  return body.data;
}

export interface StreamHandlers<Result> {
  next(result: Result): void;
  /** The stream has ended, with an error or because the server closed it. */
  onEnd(failure: ApiFailure | null): void;
  /** The server has accepted the subscription. There may be no event yet. */
  onOpen?(): void;
  /** Bytes arrived: an event or a heartbeat comment. */
  onActivity?(): void;
}

/** Opens the event stream of a subscription. It does not reconnect. @returns a function that closes the stream. */
export function openStream<Result, Variables>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  handlers: StreamHandlers<Result>,
): () => void {
  const abort = new AbortController();
  void read().then(
    (failure) => !abort.signal.aborted && handlers.onEnd(failure),
    (error) => !abort.signal.aborted && handlers.onEnd(error instanceof ApiFailure ? error : networkFailure(error)),
  );
  return () => abort.abort();

  async function read(): Promise<ApiFailure | null> {
    const secret = pageSecret();
    const response = await post(operation, variables, 'text/event-stream', secret, abort.signal);
    const { body } = response;
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !body) {
      return reportIfUnauthenticated(
        failureInResponse(await parseResponse(response), statusAndRetryAfter(response)) ?? malformedResponse(response),
        secret,
      );
    }
    handlers.onOpen?.();
    for await (const { event, data } of readEvents(body)) {
      handlers.onActivity?.();
      if (event !== 'next' || data === '') continue;
      const body = JSON.parse(data);
      const failure = failureInResponse(body, statusAndRetryAfter(response));
      if (failure) return reportIfUnauthenticated(failure, secret);
      if (!abort.signal.aborted) handlers.next(body.data);
    }
    return null;
  }
}

async function post<Result, Variables>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  accept: string,
  secret: string | null,
  signal: AbortSignal,
): Promise<Response> {
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      headers: { 'Content-Type': 'application/json', 'Gateway-Dashboard': secret ?? '1', Accept: accept },
      body: JSON.stringify({ documentId: operation.id, variables }),
      signal,
    });
    syncClock(response.headers.get('date'));
    return response;
  } catch (error) {
    throw networkFailure(error);
  }
}

async function parseResponse<Result>(response: Response): Promise<{ data?: Result | null; errors?: [] }> {
  try {
    return await response.json();
  } catch {
    throw malformedResponse(response);
  }
}

function statusAndRetryAfter({ status, headers }: Response) {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return { status, retryAfter: Number.isFinite(seconds) ? seconds : undefined };
}

/**
 * @param secret the secret that was sent. If it has changed since, somebody signed in in another tab: the session goes
 * on.
 */
function reportIfUnauthenticated(failure: ApiFailure, secret: string | null): ApiFailure {
  if (failure.code === 'UNAUTHENTICATED' && pageSecret() === secret) {
    storePageSecret(null);
    for (const listener of unauthenticatedListeners) listener();
  }
  return failure;
}

function networkFailure(error: unknown): ApiFailure {
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
  const message = isTimeout
    ? 'The gateway took too long to answer.'
    : 'The gateway can’t be reached. Is it running, and are you online?';
  return new ApiFailure(message, { code: 'UNREACHABLE' });
}

function malformedResponse({ status }: Response): ApiFailure {
  return new ApiFailure(`The gateway gave an answer that can’t be read (status ${status}).`, { status });
}

function anySignal(signal: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  return signal ? AbortSignal.any([signal, other]) : other;
}

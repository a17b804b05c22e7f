// Speaks to the API: one POST per operation, by its id. Nothing else of the dashboard makes requests.

import { gatewaySays } from '../clock.ts';
import { ApiFailure, failureIn } from './api-failure.ts';
import { readEvents } from './event-stream.ts';
import type { Operation } from './operation.ts';
import { keepPageSecret, pageSecret } from './page-secret.ts';

export { ApiFailure, failureOf } from './api-failure.ts';

/** How long an answer may take; the slowest operations of the API answer within 30 s. */
const ANSWER_MAX_MS = 40_000;

const strangerListeners = new Set<() => void>();

/** Hears when the API no longer knows who is asking, until the returned function is called. */
export function onStranger(listener: () => void): () => void {
  strangerListeners.add(listener);
  return () => strangerListeners.delete(listener);
}

/** Runs a query or a mutation. @throws ApiFailure */
export async function run<Result, Variables>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Result> {
  const secret = pageSecret();
  const tooLong = AbortSignal.timeout(ANSWER_MAX_MS);
  const response = await post(operation, variables, 'application/json', secret, anyOf(signal, tooLong));
  const answer = await answerOf<Result>(response);
  const failure = failureIn(answer, statusOf(response));
  if (failure) throw told(failure, secret);
  if (!answer.data) throw unreadable(response);
  return answer.data;
}

export interface Following<Result> {
  next(result: Result): void;
  /** The stream is over, because of a failure or because the server ended it. */
  ended(failure: ApiFailure | null): void;
  /** The server listens, although nothing may have happened yet. */
  opened?(): void;
  /** Something came, be it only a sign of life. */
  alive?(): void;
}

/** Follows one subscription until it ends or the returned function is called. It doesn't connect again by itself. */
export function follow<Result, Variables>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  following: Following<Result>,
): () => void {
  const stop = new AbortController();
  void read().then(
    (failure) => !stop.signal.aborted && following.ended(failure),
    (error) => !stop.signal.aborted && following.ended(error instanceof ApiFailure ? error : unreachable(error)),
  );
  return () => stop.abort();

  async function read(): Promise<ApiFailure | null> {
    const secret = pageSecret();
    const response = await post(operation, variables, 'text/event-stream', secret, stop.signal);
    const { body } = response;
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !body) {
      return told(failureIn(await answerOf(response), statusOf(response)) ?? unreadable(response), secret);
    }
    following.opened?.();
    for await (const { event, data } of readEvents(body)) {
      following.alive?.();
      if (event === 'complete') return null;
      if (event !== 'next' || data === '') continue;
      const answer = JSON.parse(data);
      const failure = failureIn(answer, statusOf(response));
      if (failure) return told(failure, secret);
      if (!stop.signal.aborted) following.next(answer.data);
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
    gatewaySays(response.headers.get('date'));
    return response;
  } catch (error) {
    throw unreachable(error);
  }
}

async function answerOf<Result>(response: Response): Promise<{ data?: Result | null; errors?: [] }> {
  try {
    return await response.json();
  } catch {
    throw unreadable(response);
  }
}

function statusOf({ status, headers }: Response) {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return { status, retryAfter: Number.isFinite(seconds) ? seconds : undefined };
}

/** @param secret that was sent. Where another came meanwhile, as by a sign-in in another tab, nobody is lost. */
function told(failure: ApiFailure, secret: string | null): ApiFailure {
  if (failure.code === 'UNAUTHENTICATED' && pageSecret() === secret) {
    keepPageSecret(null);
    for (const listener of strangerListeners) listener();
  }
  return failure;
}

function unreachable(error: unknown): ApiFailure {
  const isLate = error instanceof DOMException && error.name === 'TimeoutError';
  const text = isLate
    ? 'The gateway took too long to answer.'
    : 'The gateway can’t be reached. Is it running, and are you online?';
  return new ApiFailure(text, { code: 'UNREACHABLE' });
}

function unreadable({ status }: Response): ApiFailure {
  return new ApiFailure(`The gateway gave an answer that can’t be read (status ${status}).`, { status });
}

function anyOf(signal: AbortSignal | undefined, other: AbortSignal): AbortSignal {
  return signal ? AbortSignal.any([signal, other]) : other;
}

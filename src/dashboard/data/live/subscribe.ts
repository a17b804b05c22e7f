// A subscription that reconnects after a loss and pauses while the page is hidden.

import { type ApiFailure, openStream } from '../client/client.ts';
import type { Operation } from '../client/operation.ts';
import { retryDelay } from './retry-delay.ts';

/** A hidden page closes its connection after this time: all tabs together have six connections to the gateway. */
const MAX_HIDDEN_MS = 20_000;

/** The server sends an event or a comment at least every 12 s. */
const MAX_SILENCE_MS = 40_000;

/** Error codes that a retry does not change. */
const PERMANENT_CODES = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', 'BAD_USER_INPUT']);

export type ConnectionStatus = 'live' | 'connecting' | 'lost';

export interface SubscriptionListener<Result> {
  next(result: Result): void;
  /** The subscription ended for good. */
  onFailure?(failure: ApiFailure): void;
  connection?(connection: ConnectionStatus): void;
}

/** Subscribes. @returns a function that unsubscribes. */
export function subscribe<Result, Variables>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  listener: SubscriptionListener<Result>,
): () => void {
  let stop: (() => void) | undefined;
  let attempt = 0;
  let isStopped = false;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let hideTimer: ReturnType<typeof setTimeout> | undefined;
  let silenceTimer: ReturnType<typeof setTimeout> | undefined;

  document.addEventListener('visibilitychange', visibilityChanged);
  window.addEventListener('online', reconnectIfVisible);
  connect();
  return unsubscribe;

  function connect(): void {
    clearTimeout(retryTimer);
    listener.connection?.(attempt < 2 ? 'connecting' : 'lost');
    restartSilenceTimer();
    stop = openStream(operation, variables, {
      onOpen: () => {
        attempt = 0;
        listener.connection?.('live');
      },
      onActivity: restartSilenceTimer,
      next: (result) => listener.next(result),
      onEnd: streamEnded,
    });
  }

  function restartSilenceTimer(): void {
    clearTimeout(silenceTimer);
    silenceTimer = setTimeout(() => {
      stop?.();
      streamEnded(null);
    }, MAX_SILENCE_MS);
  }

  function streamEnded(failure: ApiFailure | null): void {
    stop = undefined;
    clearTimeout(silenceTimer);
    if (isStopped) return;
    if (failure && PERMANENT_CODES.has(failure.code)) {
      unsubscribe();
      listener.connection?.('lost');
      listener.onFailure?.(failure);
      return;
    }
    attempt += 1;
    listener.connection?.(attempt < 2 ? 'connecting' : 'lost');
    retryTimer = setTimeout(connect, Math.max(retryDelay(attempt - 1), (failure?.retryAfter ?? 0) * 1000));
  }

  function reconnectIfVisible(): void {
    if (!isStopped && !stop && !document.hidden) connect();
  }

  function visibilityChanged(): void {
    clearTimeout(hideTimer);
    if (document.hidden) hideTimer = setTimeout(pause, MAX_HIDDEN_MS);
    else reconnectIfVisible();
  }

  function pause(): void {
    clearTimeout(retryTimer);
    clearTimeout(silenceTimer);
    stop?.();
    stop = undefined;
    attempt = 0;
    listener.connection?.('connecting');
  }

  function unsubscribe(): void {
    isStopped = true;
    pause();
    clearTimeout(hideTimer);
    document.removeEventListener('visibilitychange', visibilityChanged);
    window.removeEventListener('online', reconnectIfVisible);
  }
}

// A subscription that lives as long as somebody looks: connects again after a loss, pauses while the page is hidden.

import { type ApiFailure, follow } from '../client/client.ts';
import type { Operation } from '../client/operation.ts';
import { waitBefore } from './retry-delay.ts';

/** A hidden page gives back its connection after this time: browsers grant six per gateway to all tabs together. */
const HIDDEN_MAX_MS = 20_000;

/** The server tells at least a comment every 12 s. */
const SILENCE_MAX_MS = 40_000;

/** What won't get better by trying again. */
const FINAL = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', 'BAD_USER_INPUT']);

export type Connection = 'live' | 'connecting' | 'lost';

export interface Listener<Result> {
  next(result: Result): void;
  /** It failed for good. */
  failed?(failure: ApiFailure): void;
  connection?(connection: Connection): void;
}

/** Follows a subscription until the returned function is called. */
export function subscribe<Result, Variables>(
  operation: Operation<Result, Variables>,
  variables: Variables,
  listener: Listener<Result>,
): () => void {
  let stop: (() => void) | undefined;
  let attempt = 0;
  let isOver = false;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;

  document.addEventListener('visibilitychange', visibilityChanged);
  window.addEventListener('online', soon);
  connect();
  return end;

  function connect(): void {
    clearTimeout(retry);
    listener.connection?.(attempt < 2 ? 'connecting' : 'lost');
    heard();
    stop = follow(operation, variables, {
      opened: () => {
        attempt = 0;
        listener.connection?.('live');
      },
      alive: heard,
      next: (result) => listener.next(result),
      ended: lost,
    });
  }

  function heard(): void {
    clearTimeout(silence);
    silence = setTimeout(() => {
      stop?.();
      lost(null);
    }, SILENCE_MAX_MS);
  }

  function lost(failure: ApiFailure | null): void {
    stop = undefined;
    clearTimeout(silence);
    if (isOver) return;
    if (failure && FINAL.has(failure.code)) {
      end();
      listener.connection?.('lost');
      listener.failed?.(failure);
      return;
    }
    attempt += 1;
    listener.connection?.(attempt < 2 ? 'connecting' : 'lost');
    retry = setTimeout(connect, Math.max(waitBefore(attempt - 1), (failure?.retryAfter ?? 0) * 1000));
  }

  function soon(): void {
    if (!isOver && !stop && !document.hidden) connect();
  }

  function visibilityChanged(): void {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(pause, HIDDEN_MAX_MS);
    else soon();
  }

  function pause(): void {
    clearTimeout(retry);
    clearTimeout(silence);
    stop?.();
    stop = undefined;
    attempt = 0;
    listener.connection?.('connecting');
  }

  function end(): void {
    isOver = true;
    pause();
    clearTimeout(hiding);
    document.removeEventListener('visibilitychange', visibilityChanged);
    window.removeEventListener('online', soon);
  }
}

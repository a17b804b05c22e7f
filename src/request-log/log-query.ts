// What is asked of the request log, and which requests that is.

import { gatewayErrorOf, type LoggedRequest } from '../edge/reports/logged-request.ts';
import type { EndpointLog } from './endpoint-log.ts';
import { type LogIds, placeIn } from './log-entry.ts';

/** Left out, or null: any. */
export interface LogQuery {
  accountId: string;
  /** The very ones. Earlier versions of the gateway look at the first alone. */
  ids?: readonly string[];
  id?: string;
  endpointIds?: readonly string[] | null;
  status?: readonly number[] | null;
  /** First digits of a status; 0: there was no answer. */
  statusClasses?: readonly number[] | null;
  /** Whether the gateway itself answered, or closed the connection. */
  refused?: boolean | null;
  /** In any case of letters. */
  method?: string | null;
  /** What is somewhere in host and path, user agent, address, operation id or reason; in any case of letters. */
  text?: string | null;
  /** When it was over: the wall clock, in milliseconds. */
  from?: number | null;
  to?: number | null;
  /** Only those before this id, or after it. */
  before?: string | null;
  after?: string | null;
}

/** How much of the log is read, and from which end. */
export interface LogSlice {
  /** The most requests, of each endpoint where they are read for each. */
  limit: number;
  /** Whether the oldest are read, which come first then; otherwise the newest. */
  isFromOldest?: boolean;
}

export class LogMatcher {
  /** Only requests of a greater place are looked at, and of a place that is not greater than this. */
  after: number;
  upTo: number;
  readonly #query: LogQuery;
  readonly #ids: LogIds;
  /** Those that are asked for by id, and their places. */
  readonly #wanted: readonly string[] | undefined;
  readonly #places: ReadonlySet<number> | undefined;
  /** The place of the query's `before`. */
  readonly #before: number;
  readonly #after: number;
  readonly #method: string | undefined;
  readonly #text: string | undefined;

  /** @param oldest the wall clock of what is not too old, in milliseconds. */
  constructor(query: LogQuery, oldest: number, ids: LogIds) {
    const { from, to, before, after, method, text } = query;
    this.#wanted = query.ids ?? (query.id ? [query.id] : undefined);
    const places = this.#wanted?.map(placeIn);
    this.#places = places && new Set(places);
    this.#query = query;
    this.#ids = ids;
    this.#after = after ? placeIn(after) - 1 : 0;
    this.after = Math.max(oldest * 1000, (from ?? 0) * 1000 - 1, this.#after, places ? Math.min(...places) - 1 : 0);
    this.#before = before ? placeIn(before) : Number.POSITIVE_INFINITY;
    this.upTo = places ? Math.max(...places) : to == null ? Number.POSITIVE_INFINITY : to * 1000;
    this.#method = method?.toUpperCase();
    this.#text = text?.toLowerCase();
  }

  /** Adds what is asked for of one endpoint to `found`. @returns how many requests were looked at. */
  collect(log: EndpointLog, found: LoggedRequest[], { limit, isFromOldest = false }: LogSlice): number {
    let lookedAt = 0;
    let left = limit;
    for (const request of isFromOldest ? log.oldestFirst() : log.newestFirst()) {
      const isBeyond = isFromOldest ? request.place > this.upTo : request.place <= this.after;
      if (isBeyond || left === 0) break;
      lookedAt++;
      if (!this.#matches(request)) continue;
      found.push(request);
      left--;
    }
    return lookedAt;
  }

  #matches(request: LoggedRequest): boolean {
    const { status, statusClasses, refused } = this.#query;
    if (request.place > this.upTo || request.place <= this.after || !this.#isBetween(request)) return false;
    if (this.#places && !this.#places.has(request.place)) return false;
    if (this.#wanted && !this.#wanted.includes(this.#ids.of(request))) return false;
    if (status && !status.includes(request.status)) return false;
    if (statusClasses && !statusClasses.includes(Math.trunc(request.status / 100))) return false;
    if (refused != null && refused !== (request.refusal !== undefined || request.error !== undefined)) return false;
    if (this.#method && this.#method !== request.method.toUpperCase()) return false;
    return this.#text === undefined || hasText(request, this.#text);
  }

  /** Two nodes may have the same places: there the ids say which was before. */
  #isBetween(request: LoggedRequest): boolean {
    const { before, after } = this.#query;
    if (request.place === this.#before && before) return this.#ids.of(request) < before;
    if (request.place - 1 === this.#after && after) return this.#ids.of(request) > after;
    return request.place < this.#before;
  }
}

/** @param text in lower case. */
function hasText(request: LoggedRequest, text: string): boolean {
  const { hostname, path, userAgent, clientIp, operationId = '', refusal } = request;
  const reason = refusal ? `${refusal.module} ${refusal.reason}` : (gatewayErrorOf(request)?.text ?? '');
  return [`${hostname}${path}`, userAgent, clientIp, operationId, reason].some((each) =>
    each.toLowerCase().includes(text),
  );
}

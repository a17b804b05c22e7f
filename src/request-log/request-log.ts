// The last requests of every endpoint that came to this node, in its memory. Once that is full, whoever has more than an equal share
// gives way: no account pushes out another, and no endpoint the others of its account.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LoggedRequest, RequestLogger } from '../edge/reports/logged-request.ts';
import { EndpointLog } from './endpoint-log.ts';
import { type LogEntry, LogIds, toLogEntry } from './log-entry.ts';
import { LogMatcher, type LogQuery, type LogSlice } from './log-query.ts';

/** How old requests may be; milliseconds. */
export const MAX_AGE_MS = 24 * 3600 * 1000;
const SWEEP_INTERVAL_MS = 60_000;
/** How many requests are looked at in one go, before others have their turn. */
const LOOKED_AT_MAX = 5000;

export interface RequestLogDeps {
  /** The most memory, about; bytes. */
  maxBytes: number;
  /** The wall clock, and one that never goes back; milliseconds. */
  time(): number;
  now(): number;
}

export class RequestLog implements RequestLogger {
  readonly now: () => number;
  readonly #deps: RequestLogDeps;
  readonly #ids = new LogIds();
  readonly #endpoints = new Map<string, EndpointLog>();
  /** How many endpoints of each account have requests here. */
  readonly #accounts = new Map<string, number>();
  #bytes = 0;
  #lastPlace = 0;
  /** Who gives way next, where the endpoint that needs room has not its share. */
  #turn: IterableIterator<EndpointLog> = this.#endpoints.values();
  #giving: EndpointLog | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: RequestLogDeps) {
    this.#deps = deps;
    this.now = deps.now;
  }

  /** The memory that it takes, about. */
  get bytes(): number {
    return this.#bytes;
  }

  add(request: LoggedRequest): void {
    request.place = this.#lastPlace = Math.max(this.#lastPlace + 1, Math.floor(this.#deps.time() * 1000));
    const log = this.#endpoints.get(request.endpointId) ?? this.#open(request);
    this.#bytes += log.push(request);
    if (log.isFull) this.#bytes -= log.shift();
    while (this.#bytes > this.#deps.maxBytes) this.#bytes -= this.#hasTooMuch(log) ? log.shift() : this.#takeOne();
  }

  /** The requests that a query asks for, from one end of the log. It gives others their turn in between. */
  async read(query: LogQuery, slice: LogSlice): Promise<LogEntry[]> {
    const { limit, isFromOldest } = slice;
    const matcher = this.#matcherOf(query);
    let found: LoggedRequest[] = [];
    let lookedAt = 0;
    for (const log of this.#logsOf(query)) {
      lookedAt += matcher.collect(log, found, slice);
      if (found.length > 2 * limit) {
        found = firstOf(found, slice);
        const { place } = found.at(-1) as LoggedRequest;
        if (isFromOldest) matcher.upTo = Math.min(matcher.upTo, place);
        else matcher.after = Math.max(matcher.after, place);
      }
      if (lookedAt < LOOKED_AT_MAX) continue;
      lookedAt = 0;
      await nextTurn();
    }
    return this.#entriesOf(firstOf(found, slice));
  }

  /** The same of each endpoint of the query that has requests here, by its id. */
  async readEach(query: LogQuery, slice: LogSlice): Promise<Record<string, LogEntry[]>> {
    const matcher = this.#matcherOf(query);
    const found: Record<string, LogEntry[]> = {};
    let lookedAt = 0;
    for (const log of this.#logsOf(query)) {
      const requests: LoggedRequest[] = [];
      lookedAt += matcher.collect(log, requests, slice);
      found[log.endpointId] = this.#entriesOf(requests);
      if (lookedAt < LOOKED_AT_MAX) continue;
      lookedAt = 0;
      await nextTurn();
    }
    return found;
  }

  /** Forgets what is too old. */
  sweep(): void {
    const oldest = (this.#deps.time() - MAX_AGE_MS) * 1000;
    for (const log of this.#endpoints.values()) {
      while ((log.nextToGo?.place ?? oldest) < oldest) this.#bytes -= log.shift();
      if (log.isEmpty) this.#close(log);
    }
    if (this.#endpoints.size === 0) this.close();
  }

  /** Stops the timer. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #matcherOf(query: LogQuery): LogMatcher {
    return new LogMatcher(query, this.#deps.time() - MAX_AGE_MS, this.#ids);
  }

  #entriesOf(requests: readonly LoggedRequest[]): LogEntry[] {
    return requests.map((request) => toLogEntry(request, this.#ids.of(request)));
  }

  #logsOf({ accountId, endpointIds }: LogQuery): EndpointLog[] {
    const logs = endpointIds
      ? endpointIds.flatMap((id) => this.#endpoints.get(id) ?? [])
      : [...this.#endpoints.values()];
    return logs.filter((log) => log.accountId === accountId);
  }

  #open(request: LoggedRequest): EndpointLog {
    const log = new EndpointLog(request);
    this.#endpoints.set(log.endpointId, log);
    this.#accounts.set(log.accountId, (this.#accounts.get(log.accountId) ?? 0) + 1);
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref();
    return log;
  }

  #close(log: EndpointLog): void {
    const others = (this.#accounts.get(log.accountId) ?? 0) - 1;
    this.#endpoints.delete(log.endpointId);
    if (others > 0) this.#accounts.set(log.accountId, others);
    else this.#accounts.delete(log.accountId);
  }

  /** Whether it has more than its equal share of the equal share of its account. */
  #hasTooMuch(log: EndpointLog): boolean {
    return log.bytes * this.#accounts.size * (this.#accounts.get(log.accountId) ?? 1) > this.#deps.maxBytes;
  }

  /** Forgets the oldest of whoever has too much: there is one, as the shares of all are all that may be. @returns its memory. */
  #takeOne(): number {
    while (!this.#giving || this.#giving.isEmpty || !this.#hasTooMuch(this.#giving)) {
      const { value, done } = this.#turn.next();
      if (done) this.#turn = this.#endpoints.values();
      this.#giving = value ?? this.#giving;
    }
    return this.#giving.shift();
  }
}

function firstOf(requests: LoggedRequest[], { limit, isFromOldest }: LogSlice): LoggedRequest[] {
  const sign = isFromOldest ? 1 : -1;
  return requests.sort((one, other) => sign * (one.place - other.place)).slice(0, limit);
}

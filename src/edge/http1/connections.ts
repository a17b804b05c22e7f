// The HTTP/1 connections of a listener. All of them are swept several times a second, which replaces timers.

import type { Socket } from 'node:net';
import { reportDefect } from '../../protocol/defect.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import type { EdgeSettings } from '../settings.ts';
import { SharedStreams } from '../upstream/shared-streams.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { type ConnectionRegistry, Http1Connection } from './connection.ts';

/** How late a deadline may be noticed; settings that are short make it shorter. */
const SWEEP_MS = 250;

export class Http1Connections implements ConnectionRegistry {
  /** Set once: every response from then on is the last one of its connection. */
  isStopping = false;
  readonly streams = new SharedStreams();
  readonly #connections = new Set<Http1Connection>();
  readonly #now: () => number;
  readonly #interval: number;
  #timer: NodeJS.Timeout | undefined;
  /** When a stop closes idle connections. */
  #closesIdleAt = Number.POSITIVE_INFINITY;

  /** @param now a clock that never goes back, in milliseconds. */
  constructor({ upstreamTimeout, headTimeout, stallTimeout, idleTimeout }: EdgeSettings, now: () => number) {
    this.#now = now;
    this.#interval = Math.min(SWEEP_MS, upstreamTimeout / 4, headTimeout / 4, stallTimeout / 4, idleTimeout / 4);
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Serves a visitor, on a socket that may be half open and has nothing listening to it. */
  accept(socket: Socket, listener: ListenerContext, slot: ConnectionSlot): void {
    if (socket.destroyed) return;
    this.#timer ??= setInterval(() => this.#sweep(), this.#interval).unref();
    this.#connections.add(new Http1Connection(socket, listener, this, slot));
  }

  /**
   * Closes what is idle; the rest closes with its response.
   * @param graceMs how long idle connections may still bring a request, of which the visitor learns that it is the last: whoever sends
   * one at the very moment at which a connection is closed would lose it.
   */
  stop(graceMs: number): void {
    this.isStopping = true;
    this.#closesIdleAt = this.#now() + graceMs;
    if (graceMs === 0) for (const connection of this.#connections) connection.closeIfIdle();
  }

  /** The connection is closed, or is no HTTP any more. */
  forget(connection: Http1Connection): void {
    this.#connections.delete(connection);
  }

  #sweep(): void {
    const now = this.#now();
    for (const connection of this.#connections) {
      try {
        connection.sweep(now);
      } catch (error) {
        reportDefect(error);
        connection.socket.destroy();
      }
    }
    if (this.isStopping) this.streams.close(now);
    if (now >= this.#closesIdleAt) for (const connection of this.#connections) connection.closeIfIdle();
    this.streams.sweep(now);
    if (this.#connections.size > 0 || !this.streams.isEmpty) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

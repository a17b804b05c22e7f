// Keeps a connection to the bus: reconnects without limit, and finds connections that went silent.

import type { Logger } from 'pino';
import { describeFailure } from '../../runtime/describe-failure.ts';
import type { BusConnection, PeerBus } from './peer-bus.ts';

/** The pause before the next attempt when one has failed, in milliseconds. */
const RETRY_MS = 1000;
/** How often a process sends itself a message over the connection, in milliseconds. */
const HEARTBEAT_MS = 1000;
/** After so many heartbeats in a row without an echo, the connection counts as lost, even if its socket is open. */
const MISSED_HEARTBEATS_MAX = 2;

export interface BusClientEvents {
  /** Called whenever messages are heard again: what was sent before may be lost. */
  onConnected(): void;
  onMessage(text: string): void;
}

export class BusClient {
  readonly #bus: PeerBus;
  readonly #heartbeat: string;
  readonly #events: BusClientEvents;
  readonly #log: Logger;
  #connection: BusConnection | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** Ends the current attempt or connection. */
  #end = () => {};
  /** Attempts in a row that failed. */
  #failures = 0;
  #isClosed = false;

  /** @param heartbeat the message that this process sends itself. */
  constructor(bus: PeerBus, heartbeat: string, events: BusClientEvents, log: Logger) {
    this.#bus = bus;
    this.#heartbeat = heartbeat;
    this.#events = events;
    this.#log = log;
  }

  /** Whether messages of other processes currently reach this one. */
  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** Connects. It resolves after the first attempt, whether that succeeds or not; further attempts follow. */
  async start(): Promise<void> {
    let connection: BusConnection | undefined;
    let heartbeat: NodeJS.Timeout | undefined;
    let missedHeartbeats = 0;
    let isLost = false;
    let endedEarly = false;
    const lost = (reason?: unknown) => {
      if (isLost) return;
      isLost = true;
      clearInterval(heartbeat);
      connection?.close();
      const wasConnected = connection !== undefined && this.#connection === connection;
      if (wasConnected) this.#connection = undefined;
      if (this.#isClosed) return;
      const { name: bus } = this.#bus;
      if (wasConnected) this.#log.warn({ bus }, 'connection to the other gateways lost');
      else if (this.#failures++ === 0)
        this.#log.warn({ bus, err: describeFailure(reason) }, 'no connection to the other gateways; trying again');
      this.#retry = setTimeout(() => void this.start(), wasConnected ? 0 : RETRY_MS).unref();
    };
    this.#end = lost;
    try {
      connection = await this.#bus.connect({
        onMessage: (text) => {
          missedHeartbeats = 0;
          if (!isLost) this.#events.onMessage(text);
        },
        onLost() {
          if (connection) lost();
          else endedEarly = true; // The attempt fails by itself, and says why.
        },
      });
    } catch (error) {
      return lost(error);
    }
    if (endedEarly || this.#isClosed || isLost) {
      connection.close();
      return lost(new Error('the connection has ended'));
    }
    const open = connection;
    this.#connection = open;
    this.#failures = 0;
    heartbeat = setInterval(() => {
      if (missedHeartbeats++ >= MISSED_HEARTBEATS_MAX) lost();
      else open.publish(this.#heartbeat).catch(() => undefined); // It counts as a missed heartbeat.
    }, HEARTBEAT_MS).unref();
    this.#events.onConnected();
  }

  /** @throws when there is no connection, or the message could not be sent. */
  async publish(text: string): Promise<void> {
    if (!this.#connection) throw new Error('not connected to the other gateways');
    await this.#connection.publish(text);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#end();
  }
}

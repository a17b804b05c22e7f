// What is counted of requests and connections: for their listener, and for their endpoint.

import type { Socket } from 'node:net';
import type { ByteCounters, RelayHooks } from '../../protocol/relay.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { TrafficMeter } from '../../tunnel/endpoints/traffic-meter.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { countResponse, type HttpCounters } from './counters.ts';
import type { DurationHistogram } from './duration-histogram.ts';

/** Counts a connection of TCP or TLS from now until it is closed. @param durations where it counts how long that is. */
export function countConnection({ meter }: LiveEndpoint, socket: Socket, durations?: DurationHistogram): void {
  const beganAt = performance.now();
  const end = () => {
    meter?.end();
    durations?.observe(performance.now() - beganAt);
  };
  meter?.begin();
  if (socket.closed) end();
  else socket.once('close', end);
}

/** Where bytes count that pass from one side to the other as they are. @param listener what all that pass through it count for. */
export function combinedTraffic<T extends ByteCounters | undefined>(
  meter: TrafficMeter | undefined,
  listener: T,
): ByteCounters | T {
  if (!meter) return listener;
  return listener ? new CombinedTraffic(meter, listener) : meter;
}

/** What counts the bytes and the end of a connection that a request was upgraded to. */
export type CountedUpgrade = Required<RelayHooks>;

/** What requests come through. */
interface Listener {
  readonly counters: HttpCounters;
  /** A clock that never goes back, in milliseconds. */
  now(): number;
}

/** Counts the requests of a connection, of which one at a time is under way. */
export class RequestCounter {
  readonly #listener: Listener;
  readonly #traffic: ByteCounters;
  readonly #slot: Pick<ConnectionSlot, 'use'>;
  /** Of the endpoint of the request under way. */
  #meter: TrafficMeter | undefined;
  /** When the request under way came to its endpoint; undefined where there is none. */
  #beganAt: number | undefined;
  #isAnswered = false;

  /** @param slot of the connection. */
  constructor(listener: Listener, slot: Pick<ConnectionSlot, 'use'>) {
    this.#listener = listener;
    this.#traffic = listener.counters.traffic;
    this.#slot = slot;
  }

  /** A request has come to an endpoint. @param head where its bytes are. @returns false when there is no place for it. */
  begin({ meter, accountId }: LiveEndpoint, head: { start: number; end: number }, now: number): boolean {
    if (!this.#slot.use(accountId)) return false;
    this.#beganAt = now;
    this.#isAnswered = false;
    this.#meter = meter;
    meter?.begin();
    this.addEndpointReceived(head.end - head.start);
    return true;
  }

  /** Some of it was read, which the listener has counted already. */
  addEndpointReceived(bytes: number): void {
    if (this.#meter) this.#meter.fromSocket += bytes;
  }

  /** Some of it was read, which the listener has not counted yet. */
  addReceived(bytes: number): void {
    this.#traffic.fromSocket += bytes;
    this.addEndpointReceived(bytes);
  }

  addSent(bytes: number): void {
    this.#traffic.toSocket += bytes;
    if (this.#meter) this.#meter.toSocket += bytes;
  }

  /** The head of an answer is sent, of upstream's or one of our own: not an interim one. */
  countResponse(status: number): void {
    const { counters } = this.#listener;
    countResponse(counters, status);
    if (this.#beganAt === undefined || this.#isAnswered) return;
    this.#isAnswered = true;
    counters.firstByteDurations.observe(this.#listener.now() - this.#beganAt);
  }

  /** No request is under way any more, if one was. */
  end(): void {
    if (this.#beganAt !== undefined)
      this.#listener.counters.requestDurations.observe(this.#listener.now() - this.#beganAt);
    this.#beganAt = undefined;
    this.#meter?.end();
    this.#meter = undefined;
  }

  /**
   * The request goes on as another protocol, whose end is counted by what is returned.
   * @param unread bytes that have come of that already.
   */
  countUpgrade(unread: number, onClose?: CountedUpgrade['onClose']): CountedUpgrade {
    this.addEndpointReceived(unread);
    const meter = this.#meter;
    const beganAt = this.#beganAt;
    const { counters: listener, now } = this.#listener;
    this.#meter = undefined;
    this.#beganAt = undefined;
    return {
      counters: combinedTraffic(meter, this.#traffic),
      onClose(wasCut) {
        meter?.end();
        if (beganAt !== undefined) listener.upgradeDurations.observe(now() - beganAt);
        onClose?.(wasCut);
      },
    };
  }
}

/** To whoever adds to it is one; what is added counts twice. */
class CombinedTraffic implements ByteCounters {
  readonly #meter: TrafficMeter;
  readonly #listener: ByteCounters;

  constructor(meter: TrafficMeter, listener: ByteCounters) {
    this.#meter = meter;
    this.#listener = listener;
  }

  get fromSocket(): number {
    return this.#meter.fromSocket;
  }

  set fromSocket(bytes: number) {
    this.#listener.fromSocket += bytes - this.#meter.fromSocket;
    this.#meter.fromSocket = bytes;
  }

  get toSocket(): number {
    return this.#meter.toSocket;
  }

  set toSocket(bytes: number) {
    this.#listener.toSocket += bytes - this.#meter.toSocket;
    this.#meter.toSocket = bytes;
  }
}

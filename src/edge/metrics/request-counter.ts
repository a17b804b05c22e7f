// What is counted of requests and connections: for their listener, and for their endpoint.

import type { Socket } from 'node:net';
import type { ByteCounters, RelayHooks } from '../../protocol/relay.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { TrafficMeter } from '../../tunnel/endpoints/traffic-meter.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { countResponse, type HttpCounters } from './counters.ts';
import type { DurationHistogram } from './duration-histogram.ts';
import type { TrafficRecorder } from './traffic-recorder.ts';

/** Where the figures of traffic are recorded; undefined: nowhere. */
type Recorder = Pick<TrafficRecorder, 'recordEndpoint' | 'recordRoute'> | undefined;

/** A route of an edge, whose requests are counted by themselves. */
export interface CountedRoute {
  readonly id: string;
  readonly meter: TrafficMeter;
}

/** Counts a connection of TCP or TLS from now until it is closed. @param durations where it counts how long that is. */
export function countConnection(
  endpoint: LiveEndpoint,
  socket: Socket,
  recorder: Recorder,
  durations?: DurationHistogram,
): void {
  const { meter } = endpoint;
  const beganAt = performance.now();
  const end = () => {
    const durationMs = performance.now() - beganAt;
    meter?.end();
    meter?.recording?.disconnected(durationMs);
    durations?.observe(durationMs);
  };
  meter?.begin();
  if (meter && !meter.recording) recorder?.recordEndpoint(meter, endpoint);
  meter?.recording?.connected();
  if (socket.closed) end();
  else socket.once('close', end);
}

/** Where bytes count that pass from one side to the other as they are. @param listener what all that pass through it count for. */
export function combinedTraffic<T extends ByteCounters | undefined>(
  meter: ByteCounters | undefined,
  listener: T,
): ByteCounters | T {
  if (!meter) return listener;
  return listener ? new CombinedTraffic(meter, listener) : meter;
}

/** What counts the bytes and the end of a connection that a request was upgraded to. */
export type CountedUpgrade = Required<Omit<RelayHooks, 'watch'>>;

/** What requests come through. */
interface Listener {
  readonly counters: HttpCounters;
  readonly services: { readonly recorder?: Recorder };
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
  #accountId = '';
  /** Of the route that it takes; undefined until it has taken one, and where there are none. */
  #route: TrafficMeter | undefined;
  /** Bytes of the request under way that were read. */
  #received = 0;
  /** When the request under way came to its endpoint; undefined where there is none. */
  #beganAt: number | undefined;
  #isAnswered = false;
  #isRefused = false;

  /** @param slot of the connection. */
  constructor(listener: Listener, slot: Pick<ConnectionSlot, 'use'>) {
    this.#listener = listener;
    this.#traffic = listener.counters.traffic;
    this.#slot = slot;
  }

  /** A request has come to an endpoint. @param head where its bytes are. @returns false when there is no place for it. */
  begin(endpoint: LiveEndpoint, head: { start: number; end: number }, now: number): boolean {
    const { meter, accountId } = endpoint;
    if (!this.#slot.use(accountId)) return false;
    this.#beganAt = now;
    this.#isAnswered = false;
    this.#isRefused = false;
    this.#received = 0;
    this.#accountId = accountId;
    this.#meter = meter;
    if (meter) {
      meter.begin();
      if (!meter.recording) this.#listener.services.recorder?.recordEndpoint(meter, endpoint);
    }
    this.addEndpointReceived(head.end - head.start);
    return true;
  }

  /** The request takes a route of its edge. What has come of it counts there, too. */
  takeRoute({ id, meter }: CountedRoute): void {
    if (!this.#meter || this.#route) return;
    this.#route = meter;
    meter.begin();
    if (!meter.recording) this.#listener.services.recorder?.recordRoute(meter, id, this.#accountId);
    meter.fromSocket += this.#received;
  }

  /** A module wants the request to have no response. */
  refuse(): void {
    this.#isRefused = true;
  }

  /** Some of it was read, which the listener has counted already. */
  addEndpointReceived(bytes: number): void {
    this.#received += bytes;
    if (this.#meter) this.#meter.fromSocket += bytes;
    if (this.#route) this.#route.fromSocket += bytes;
  }

  /** Some of it was read, which the listener has not counted yet. */
  addReceived(bytes: number): void {
    this.#traffic.fromSocket += bytes;
    this.addEndpointReceived(bytes);
  }

  addSent(bytes: number): void {
    this.#traffic.toSocket += bytes;
    if (this.#meter) this.#meter.toSocket += bytes;
    if (this.#route) this.#route.toSocket += bytes;
  }

  /** The head of an answer is sent, of upstream's or one of our own: not an interim one. */
  countResponse(status: number): void {
    const { counters } = this.#listener;
    countResponse(counters, status);
    if (this.#beganAt === undefined || this.#isAnswered) return;
    this.#isAnswered = true;
    const firstByteMs = this.#listener.now() - this.#beganAt;
    counters.firstByteDurations.observe(firstByteMs);
    this.#meter?.recording?.answered(status, firstByteMs);
    this.#route?.recording?.answered(status, firstByteMs);
  }

  /** No request is under way any more, if one was. */
  end(): void {
    if (this.#beganAt !== undefined) {
      const durationMs = this.#listener.now() - this.#beganAt;
      this.#listener.counters.requestDurations.observe(durationMs);
      this.#recordEnd(this.#meter, durationMs);
      this.#recordEnd(this.#route, durationMs);
    }
    this.#beganAt = undefined;
    this.#meter?.end();
    this.#meter = undefined;
    this.#route?.end();
    this.#route = undefined;
  }

  #recordEnd(meter: TrafficMeter | undefined, durationMs: number): void {
    if (this.#isAnswered) meter?.recording?.finished(durationMs);
    else meter?.recording?.unanswered(durationMs, this.#isRefused);
  }

  /**
   * The request goes on as another protocol, whose end is counted by what is returned.
   * @param unread bytes that have come of that already.
   */
  countUpgrade(unread: number, onClose?: CountedUpgrade['onClose']): CountedUpgrade {
    this.addEndpointReceived(unread);
    const meter = this.#meter;
    const route = this.#route;
    const beganAt = this.#beganAt;
    const { counters: listener, now } = this.#listener;
    this.#meter = undefined;
    this.#route = undefined;
    this.#beganAt = undefined;
    return {
      counters: combinedTraffic(route, combinedTraffic(meter, this.#traffic)),
      onClose(wasCut) {
        meter?.end();
        route?.end();
        if (beganAt !== undefined) listener.upgradeDurations.observe(now() - beganAt);
        onClose?.(wasCut);
      },
    };
  }
}

/** To whoever adds to it is one; what is added counts twice. */
class CombinedTraffic implements ByteCounters {
  readonly #meter: ByteCounters;
  readonly #listener: ByteCounters;

  constructor(meter: ByteCounters, listener: ByteCounters) {
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

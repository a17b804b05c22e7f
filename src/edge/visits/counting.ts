// What is counted of a visit: for the listener that it came through, and for the endpoint that it came to.

import type { Socket } from 'node:net';
import type { Traffic } from '../../protocol/relay.ts';
import type { LiveEndpoint } from '../../tunnel/endpoint.ts';
import type { Meter } from '../../tunnel/meter.ts';
import type { VisitorPlace } from '../visitor-places.ts';

/** Counts a connection of TCP or TLS from now until it is closed. */
export function countConnection({ meter }: LiveEndpoint, socket: Socket): void {
  if (!meter) return;
  meter.begin();
  if (socket.closed) meter.end();
  else socket.once('close', () => meter.end());
}

/** Where bytes count that pass from one side to the other as they are. @param listener what all that pass through it count for. */
export function trafficAt<T extends Traffic | undefined>(meter: Meter | undefined, listener: T): Traffic | T {
  if (!meter) return listener;
  return listener ? new SharedTraffic(meter, listener) : meter;
}

/** What follows a request that was upgraded. */
export interface CountedUpgrade {
  traffic: Traffic;
  /** It is over. */
  onClose(wasCut: boolean): void;
}

/** Counts the requests of a connection, of which one at a time is under way. */
export class RequestCount {
  readonly #listener: Traffic;
  readonly #place: Pick<VisitorPlace, 'use'>;
  /** Of the endpoint of the request under way. */
  #meter: Meter | undefined;

  /** @param place of the connection. */
  constructor(listener: Traffic, place: Pick<VisitorPlace, 'use'>) {
    this.#listener = listener;
    this.#place = place;
  }

  /** A request has come to an endpoint. @param bytes of its head. @returns false when there is no place for it. */
  begin({ meter, accountId }: LiveEndpoint, bytes: number): boolean {
    if (!this.#place.use(accountId)) return false;
    this.#meter = meter;
    meter?.begin();
    this.came(bytes);
    return true;
  }

  /** Some of it was read, which the listener has counted already. */
  came(bytes: number): void {
    if (this.#meter) this.#meter.fromSocket += bytes;
  }

  /** Some of it was read, which nobody has counted yet. */
  received(bytes: number): void {
    this.#listener.fromSocket += bytes;
    this.came(bytes);
  }

  sent(bytes: number): void {
    this.#listener.toSocket += bytes;
    if (this.#meter) this.#meter.toSocket += bytes;
  }

  /** No request is under way any more, if one was. */
  end(): void {
    this.#meter?.end();
    this.#meter = undefined;
  }

  /**
   * The request goes on as something else, and is somebody else's to end.
   * @param unread bytes that have come of that already.
   */
  upgraded(unread: number, onClose?: CountedUpgrade['onClose']): CountedUpgrade {
    this.came(unread);
    const meter = this.#meter;
    this.#meter = undefined;
    return {
      traffic: trafficAt(meter, this.#listener),
      onClose(wasCut) {
        meter?.end();
        onClose?.(wasCut);
      },
    };
  }
}

/** To whoever adds to it is one; what is added counts twice. */
class SharedTraffic implements Traffic {
  readonly #meter: Meter;
  readonly #listener: Traffic;

  constructor(meter: Meter, listener: Traffic) {
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

// The connection of HTTP/2 that a request comes on, as the request sees it.

import type { Clients } from '../http/clients.ts';
import type { Front } from '../http/front.ts';
import type { LeavingStreams } from '../http/streams.ts';
import type { VisitorPlace } from '../visitor-places.ts';
import type { IdleStreams } from './streams.ts';
import type { Uploads } from './uploads.ts';

/** The visitor's connection, which requests come on. */
export interface ExchangeOwner {
  readonly front: Front;
  readonly place: VisitorPlace;
  /** Who asks on it. */
  readonly clients: Clients;
  readonly idle: IdleStreams;
  readonly leaving: LeavingStreams;
  readonly uploads: Uploads;
  /** Differs from what it was before when the visitor has taken bytes meanwhile. */
  progress(): unknown;
  /** @param wasBroken whether the visitor took a request back before its answer was complete. */
  forget(exchange: object, wasBroken: boolean): void;
}

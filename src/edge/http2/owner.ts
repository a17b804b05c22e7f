// The connection of HTTP/2 that a request comes on, as the request sees it.

import type { ClientResolver } from '../pipeline/clients.ts';
import type { DrainingStreams } from '../pipeline/draining-streams.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import type { IdleStreams } from './idle-streams.ts';
import type { UploadWindows } from './upload-windows.ts';

/** The visitor's connection, which requests come on. */
export interface Http2ConnectionContext {
  readonly front: ListenerContext;
  readonly place: ConnectionSlot;
  /** Who asks on it. */
  readonly clients: ClientResolver;
  readonly idle: IdleStreams;
  readonly draining: DrainingStreams;
  readonly uploads: UploadWindows;
  /** Differs from what it was before when the visitor has taken bytes meanwhile. */
  progress(): unknown;
  /** @param wasBroken whether the visitor took a request back before its answer was complete. */
  forget(exchange: object, wasBroken: boolean): void;
}

// Whom the parts of a connection belong to, as each of them sees it.

import type { VisitorError } from '../../http/visitor-errors.ts';
import type { RequestHead } from '../codec/request-head.ts';
import type { RequestCounter } from '../metrics/request-counter.ts';
import type { RequestClient } from '../pipeline/clients.ts';
import type { DrainingStreams } from '../pipeline/draining-streams.ts';
import type { LocalReply } from '../pipeline/pipeline-response.ts';
import type { InputBuffer } from './input-buffer.ts';
import type { ResponseTarget } from './response-writer.ts';
import type { ConnectionTimeouts } from './timeouts.ts';
import type { UpstreamOwner, UpstreamStream } from './upstream-stream.ts';

type Fields = readonly (readonly [name: string, value: string])[];

/** All connections of a listener. */
export interface ConnectionRegistry {
  /** Once it is so, every answer is the last one of its connection. */
  readonly isStopping: boolean;
  readonly draining: DrainingStreams;
  /** The connection is closed, or is no HTTP any more. */
  forget(connection: object): void;
}

/** The visitor's connection, which the request came on. */
export interface Http1ConnectionContext extends UpstreamOwner, ResponseTarget {
  /** Who asks with the request under way. */
  readonly client: RequestClient;
  readonly counter: RequestCounter;
  readonly timeouts: ConnectionTimeouts;
  readonly input: InputBuffer;
  readonly request: RequestHead;
  /** The request under way. */
  readonly exchange: object | undefined;
  upstream: UpstreamStream | undefined;
  /** Whether the answer under way is the last one. */
  readonly isClosing: boolean;
  work(): void;
  finish(closes: boolean, now: number): void;
  /** @param fields what the answer has besides. */
  fail(error: VisitorError, canGoOn: boolean, fields?: Fields): void;
  answerWith(response: LocalReply, canGoOn: boolean): void;
  /** Closes it without a word. */
  drop(): void;
  cut(): void;
  detach(): Buffer | undefined;
}

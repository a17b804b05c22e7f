// Whom the parts of a connection belong to, as each of them sees it.

import type { VisitorError } from '../../http/visitor-errors.ts';
import type { RequestCount } from '../visits/counting.ts';
import type { Client } from './clients.ts';
import type { Input } from './input.ts';
import type { Patience } from './patience.ts';
import type { AnswerTaker } from './pieces.ts';
import type { RequestHead } from './request-head.ts';
import type { LeavingStreams } from './streams.ts';
import type { Upstream, UpstreamOwner } from './upstream.ts';
import type { OwnAnswer } from './visit-response.ts';

type Fields = readonly (readonly [name: string, value: string])[];

/** All connections of a listener. */
export interface ConnectionOwner {
  /** Once it is so, every answer is the last one of its connection. */
  readonly isStopping: boolean;
  readonly leaving: LeavingStreams;
  /** The connection is closed, or is no HTTP any more. */
  forget(connection: object): void;
}

/** The visitor's connection, which the request came on. */
export interface ExchangeOwner extends UpstreamOwner, AnswerTaker {
  /** Who asks with the request under way. */
  readonly client: Client;
  readonly counting: RequestCount;
  readonly patience: Patience;
  readonly input: Input;
  readonly request: RequestHead;
  /** The request under way. */
  readonly exchange: object | undefined;
  upstream: Upstream | undefined;
  /** Whether the answer under way is the last one. */
  readonly isClosing: boolean;
  work(): void;
  finish(closes: boolean, now: number): void;
  /** @param fields what the answer has besides. */
  fail(error: VisitorError, canGoOn: boolean, fields?: Fields): void;
  answerWith(answer: OwnAnswer, canGoOn: boolean): void;
  /** Closes it without a word. */
  drop(): void;
  cut(): void;
  detach(): Buffer | undefined;
}

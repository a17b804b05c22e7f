// What the pipeline needs of a transport: a side that requests are read from, and a side that responses are written to.

import type { ByteStream } from '../../protocol/mux/stream.ts';
import type { Body } from '../codec/body.ts';
import type { RequestHead } from '../codec/request-head.ts';
import type { ResponseHead } from '../codec/response-head.ts';
import type { RequestCounter } from '../metrics/request-counter.ts';
import type { RequestRecording } from '../reports/request-recording.ts';
import type { UpstreamPool } from '../upstream/upstream-pool.ts';
import type { RequestClient } from './clients.ts';
import type { ExchangeLifetime } from './exchange-lifetime.ts';
import type { ListenerContext } from './listener-context.ts';
import type { LocalReply, UpstreamResponse } from './pipeline-response.ts';
import type { VisitorTimeouts } from './visitor-timeouts.ts';

/** A request whose head was read. */
export interface RequestSource {
  readonly head: RequestHead;
  readonly client: RequestClient;
  /** Of HTTP/2: names and values in turn, as they came. */
  readonly http2Fields?: readonly string[] | undefined;
  /** Whether all of the body was read. */
  readonly isComplete: boolean;
  /** Whether all of the body has come, though it may not have been read. */
  readonly hasCome: boolean;
  /** Bytes of the body that were read; what frames its chunks is not counted. */
  readonly bodyLength: number;
  /** Whether some of the body has come that was not read. */
  readonly isReadable: boolean;
  /** Reads what may go on in one piece with the head; undefined when it is not valid. */
  readFirst(): Buffer | undefined;
  /** The pipeline takes the body again: from then on it is given what comes, for as long as it wants more. */
  resume(): void;
}

/** A response as it begins. */
export interface ResponseStart {
  /** The head as it was read. */
  readonly head: ResponseHead;
  /** What modules have made of it, where they have changed it. */
  readonly changed: UpstreamResponse | undefined;
  readonly status: number;
  /** Bytes of the body as upstream sends it, `CHUNKED` or `UNTIL_CLOSE`. */
  readonly length: number;
  /** Whether the body is written afterwards, changed or encoded, in a framing of the gateway's own. */
  readonly isBodyRewritten: boolean;
  readonly body: Body;
  /** What upstream sent last. In it are a part of the head, from `from` on, and of the body, from `headEnd` to `end`. */
  readonly chunk: Buffer;
  readonly from: number;
  readonly headEnd: number;
  readonly end: number;
  /** Records the head as it is sent. */
  readonly recording: RequestRecording | undefined;
}

/** What became of the beginning of a response: `empty` when it is complete with its head, whatever upstream sends. */
export type StartResult = 'begun' | 'empty' | 'impossible';

/** Where the response to a request is written. What is written after the visitor has gone has no effect. */
export interface ResponseWriter {
  /** Whether a body without a length that is known beforehand is written in chunks. */
  readonly framesChunks: boolean;
  /** Whether a head is written although the body that came with it is malformed; the response is cut then. */
  readonly sendsHeadFirst: boolean;
  /** 100 Continue. */
  writeContinue(): void;
  /** A response such as 103, which precedes the response proper. */
  writeInterim(head: ResponseHead): void;
  /** The head and, unless it is going to be encoded, what of the body has come with it. */
  writeHead(start: ResponseStart): StartResult;
  /** A piece of the body, in the framing of upstream or already encoded. */
  write(piece: Buffer, isLast: boolean): void;
  /** The body is complete, which was not known when its last piece was written. */
  end(): void;
  /** @returns false when the visitor has taken enough for upstream to get credit for so many bytes more. */
  hold(bytes: number): boolean;
  /**
   * A whole response of the gateway's own.
   * @param canGoOn whether the end of this request is known, so that another one can follow on the connection.
   */
  reply(reply: LocalReply, isToHead: boolean, canGoOn: boolean, recording: RequestRecording | undefined): void;
  /** Breaks off a response that cannot be completed, so that the visitor does not take it for a complete one. */
  cut(): void;
  /** There is no response at all. */
  drop(): void;
}

/** A request that goes on in another protocol. */
export interface Upgrade {
  readonly stream: ByteStream;
  /** The head of the response, as it is sent. */
  readonly head: Buffer;
  /** What upstream has sent after it. */
  readonly rest: Buffer;
  /** Whether the visitor speaks WebSocket and upstream only what is in its messages. */
  readonly convertsWebsocket: boolean;
  readonly recording: RequestRecording | undefined;
  /** What may end it; undefined: nothing. */
  readonly lifetime: ExchangeLifetime | undefined;
  /** Called once, when the other protocol is over. */
  readonly onClose: ((wasCut: boolean) => void) | undefined;
}

/** What a pipeline works with. */
export interface PipelineContext {
  readonly listener: ListenerContext;
  readonly source: RequestSource;
  readonly writer: ResponseWriter;
  readonly counter: RequestCounter;
  readonly timeouts: VisitorTimeouts;
  readonly upstreams: UpstreamPool;
  /** The response was written, cut or dropped. */
  onDone(): void;
  /** The connection belongs to another protocol from here on; `onDone` is not called. */
  onUpgrade(upgrade: Upgrade): void;
}

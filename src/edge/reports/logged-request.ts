// What the request log keeps of one request. Every request to an endpoint makes one, so that it copies a few texts and numbers
// only: no headers, and nothing that is not shown.

import { withoutQueryValues } from '../../http/path.ts';
import { type VisitorError, visitorErrors } from '../../http/visitor-errors.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { CR } from '../codec/bytes.ts';
import type { RequestHead } from '../codec/request-head.ts';
import { originFormOf } from '../codec/request-line.ts';
import type { ConnectionInfo } from '../visitors/connection-info.ts';
import type { Refusal } from './traffic-reports.ts';

/** The most characters of a target, a user agent and a reason that are kept. */
const TARGET_MAX = 1024;
const AGENT_MAX = 200;
const REASON_MAX = 300;
/** The memory of one without its texts, about; bytes. */
const ENTRY_BYTES = 384;

/** Takes requests that are over. */
export interface RequestLogger {
  /** A clock that never goes back, in milliseconds: that of the listeners. */
  now(): number;
  /** It is called once for every request to an endpoint; it must not wait. An upgraded connection changes it still. */
  add(request: LoggedRequest): void;
}

/** Where a request came from. */
interface Origin {
  readonly scheme: 'http' | 'https';
  readonly connection: ConnectionInfo;
  readonly isHttp2: boolean;
}

/** One request. All durations are whole microseconds since its head had come: V8 keeps those in the object itself. */
export class LoggedRequest {
  readonly accountId: string;
  readonly endpointId: string;
  /** Of an edge's endpoint; undefined where the request came to no route. */
  routeId: string | undefined = undefined;
  readonly clientIp: string;
  readonly scheme: 'http' | 'https';
  readonly httpVersion: 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2.0';
  /** Lower case, without the port. */
  readonly hostname: string;
  readonly port: number;
  userAgent: string;
  /** When its head had come: the wall clock, in milliseconds. */
  readonly startedAt: number;
  /** Of the answer; 0 when there was none. */
  status = 0;
  /** Bytes of the body of the request that came, and of the answer that were sent. */
  bytesIn = 0;
  bytesOut = 0;
  /** When the request was written to a stream to its agent, and when the answer began; -1 when that never was. */
  upstreamMicros = -1;
  firstByteMicros = -1;
  durationMicros = 0;
  /** Whether the whole answer was sent. */
  isComplete = false;
  /** Whether it was upgraded to another protocol, which goes on. */
  isOpen = false;
  /** The gateway's own answer, and the reason of the module that turned the visitor away. */
  error: VisitorError | undefined = undefined;
  refusal: Refusal | undefined = undefined;
  operationId: string | undefined = undefined;
  /** Its place in the log, which gives it when it is over: the later, the greater. */
  place = 0;
  readonly #head: string;
  readonly #methodEnd: number;
  readonly #targetStart: number;
  readonly #log: RequestLogger;
  readonly #beganAt: number;

  /**
   * @param log which takes it, and whose clock counts. @param head which may be released afterwards.
   * @param begin when its head had come: by the wall clock, and by the clock of the log; milliseconds.
   */
  constructor(
    log: RequestLogger,
    endpoint: LiveEndpoint,
    head: RequestHead,
    { scheme, connection, isHttp2 }: Origin,
    begin: { at: number; now: number },
  ) {
    const { line, bytes } = head;
    this.accountId = endpoint.accountId;
    this.endpointId = endpoint.id;
    this.clientIp = connection.visitor.ip;
    this.scheme = scheme;
    this.httpVersion = isHttp2 ? 'HTTP/2.0' : line.isHttp10 ? 'HTTP/1.0' : 'HTTP/1.1';
    this.hostname = head.hostname;
    this.port = endpoint.port;
    this.startedAt = begin.at;
    this.#log = log;
    this.#beganAt = begin.now;
    this.#methodEnd = line.methodEnd - line.start;
    this.#targetStart = line.targetStart - line.start;
    this.#head = bytes.toString('latin1', line.start, Math.min(line.targetEnd, line.targetStart + TARGET_MAX));
    this.userAgent = userAgentOf(head);
  }

  get method(): string {
    return this.#head.slice(0, this.#methodEnd);
  }

  /** The path, with the names of its query and none of its values, which may be secret; cut where it is long. */
  get path(): string {
    return withoutQueryValues(originFormOf(this.method, this.#head.slice(this.#targetStart)));
  }

  /** The memory that it takes, about; bytes. */
  get bytes(): number {
    return ENTRY_BYTES + this.#head.length + this.userAgent.length + (this.refusal?.reason.length ?? 0);
  }

  /** The request is written to a stream to its agent. @param now as above. */
  sentUpstream(now: number): void {
    this.upstreamMicros = this.#micros(now);
  }

  /** The head of the answer is written. @param length of its body, where it is known to be the gateway's own. */
  answered(status: number, length = 0): void {
    this.status = status;
    this.bytesOut = length;
    this.firstByteMicros = this.#micros(this.#log.now());
  }

  /** A module has turned the visitor away. @param operationId that the visitor is shown. */
  refused({ module, reason }: Refusal, operationId: string | undefined): void {
    this.refusal = { module, reason: reason.slice(0, REASON_MAX) };
    this.operationId = operationId;
  }

  /** The gateway itself answers, or cuts the answer. @param detail what is to be said besides. */
  failed(error: VisitorError, detail?: string): void {
    this.error = error;
    if (detail !== undefined) this.faulty(detail);
  }

  /** Why the service gave no answer, or not one that goes on. */
  faulty(reason: string): void {
    this.refusal = { module: 'gateway', reason };
  }

  /** It is over: the log takes it. @param isComplete whether all of the answer was sent. */
  finish(isComplete: boolean, bytesIn: number, bytesOut: number): void {
    this.#end(isComplete, bytesIn, bytesOut);
    this.#log.add(this);
  }

  /**
   * Both sides speak another protocol behind the head of the answer, and their bytes count from then on.
   * @param headLength bytes of that head. @returns what is to be called when the other protocol is over.
   */
  upgraded(status: number, connection: ConnectionInfo, headLength: number): (wasCut: boolean) => void {
    const { bytesIn } = connection;
    const bytesOut = connection.bytesOut + headLength;
    this.answered(status);
    this.isOpen = true;
    return (wasCut) => {
      this.isOpen = false;
      this.#end(!wasCut, connection.bytesIn - bytesIn, connection.bytesOut - bytesOut);
    };
  }

  #end(isComplete: boolean, bytesIn: number, bytesOut: number): void {
    this.isComplete = isComplete && this.status > 0;
    this.bytesIn += bytesIn;
    this.bytesOut += bytesOut;
    this.durationMicros = this.#micros(this.#log.now());
  }

  #micros(now: number): number {
    return Math.round((now - this.#beganAt) * 1000);
  }
}

function userAgentOf({ bytes, userAgentStart: start }: RequestHead): string {
  if (start === 0) return '';
  const limit = start + AGENT_MAX + 1; // With the blank before it.
  let end = start;
  while (end < limit && bytes[end] !== CR) end++;
  return bytes.toString('latin1', start, end).trim();
}

/** What the gateway's own answer says: its code and its text; undefined when the answer is another's. */
export function gatewayErrorOf({ error }: LoggedRequest): { code: string; text: string } | undefined {
  const row = error && visitorErrors[error];
  return row && { code: `ERR_GATEWAY_${row.number}`, text: row.text };
}

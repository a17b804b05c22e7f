// What is recorded of a request while it is under way, where requests are reported. In the end it is its own report.

import type { OutgoingHttpHeaders } from 'node:http2';
import type { ModuleDecisions } from '../../http/exchange.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { CHUNKED } from '../codec/body.ts';
import type { RequestHead } from '../codec/request-head.ts';
import type { ConnectionInfo } from '../visitors/connection-info.ts';
import { RecordedRequest, RecordedResponse } from './recorded-messages.ts';
import { reportedTls } from './reported-tls.ts';
import { observerOf, type ReportingServices, reportRequest, wantsRequests } from './safe-reporter.ts';
import type { ReportedConnection, ReportedTls, RequestObserver, RequestReport } from './traffic-reports.ts';

/** The listener and the connection that a request came through. */
interface RequestOrigin {
  readonly listener: { readonly services: ReportingServices; readonly scheme: 'http' | 'https' };
  readonly connection: ConnectionInfo;
}

/**
 * @param head of the request, which may be released afterwards.
 * @param http2Fields of HTTP/2: names and values in turn, as they came.
 * @returns undefined where requests are not reported.
 */
export function recordRequest(
  origin: RequestOrigin,
  endpoint: LiveEndpoint,
  head: RequestHead,
  http2Fields?: readonly string[],
): RequestRecording | undefined {
  const { services } = origin.listener;
  const observer = observerOf(services, endpoint);
  if (!observer && !wantsRequests(services, endpoint.accountId)) return undefined;
  return new RequestRecording(origin, endpoint, head, observer, http2Fields);
}

/** Its owner calls `finish` once, and drops it then. */
export class RequestRecording implements RequestReport {
  readonly accountId: string;
  readonly endpointId: string;
  readonly tls: ReportedTls | undefined;
  isConnectionReused = false;
  readonly request: RecordedRequest;
  response: RecordedResponse | undefined;
  readonly decisions: ModuleDecisions = {};
  readonly observer: RequestObserver | undefined;
  readonly #services: ReportingServices;
  readonly #connectionInfo: ConnectionInfo;
  readonly #hostname: string;
  #connection: ReportedConnection | undefined;

  constructor(
    { listener, connection }: RequestOrigin,
    endpoint: LiveEndpoint,
    head: RequestHead,
    observer: RequestObserver | undefined,
    http2Fields?: readonly string[],
  ) {
    this.#services = listener.services;
    this.#connectionInfo = connection;
    this.#hostname = head.hostname;
    this.accountId = endpoint.accountId;
    this.endpointId = endpoint.id;
    this.tls = connection.tls && reportedTls(connection.tls);
    this.request = new RecordedRequest(head, listener.scheme, listener.services.time(), http2Fields);
    this.observer = observer;
    if (this.observer) this.observer.peer = connection.peer;
    if (head.bodyLength === CHUNKED) this.observer?.request?.startChunked();
    if (head.bodyLength === 0) this.#requested(this.request.firstByteAt);
  }

  get connection(): ReportedConnection {
    const { visitor, serverName, startedAt } = this.#connectionInfo;
    this.#connection ??= {
      clientIp: visitor.ip,
      serverIp: visitor.local.ip,
      serverPort: visitor.local.port,
      serverName: serverName ?? this.#hostname,
      startedAt,
    };
    return this.#connection;
  }

  /** A piece of the request's body has come, chunks and all. @param isLast whether the request is complete with it. */
  addRequestBytes(bytes: Buffer, start: number, end: number, isLast: boolean): void {
    this.observer?.request?.take(bytes, start, end);
    if (isLast) this.#requested(this.#services.time());
  }

  /**
   * The head of the answer is sent.
   * @param head as HTTP/1, or the fields of HTTP/2.
   * @param own the body, sent with it, where it is the gateway's own answer.
   */
  responseStarted(status: number, head: string | OutgoingHttpHeaders, own?: Buffer): void {
    this.response = new RecordedResponse(status, this.#services.time(), head);
    if (!own) return;
    this.response.bodyLength = own.length;
    this.observer?.sentLocalResponse(own);
  }

  /**
   * It is over.
   * @param requestLength bytes of its body that have come. @param responseLength those that were sent since the head of the answer.
   * @param compression of an answer of upstream.
   */
  finish(
    isComplete: boolean,
    requestLength: number,
    responseLength: number,
    compression?: ModuleDecisions['compression'],
  ): void {
    const { request, response } = this;
    const now = this.#services.time();
    if (compression) this.decisions.compression = compression;
    request.bodyLength = requestLength;
    request.lastByteAt ||= now;
    if (response) {
      response.bodyLength += responseLength;
      response.lastByteAt = now;
      response.isComplete = isComplete;
    }
    reportRequest(this.#services, this);
  }

  /**
   * Both sides speak another protocol from now on; the head of the answer was the last that was sent.
   * @param unread bytes that have come of the visitor and belong to that.
   * @returns what has to be called once, when it is over.
   */
  upgraded(unread: number): (wasCut: boolean) => void {
    const info = this.#connectionInfo;
    const bytesIn = info.bytesIn - unread;
    const { bytesOut } = info;
    this.request.lastByteAt = 0;
    if (this.observer) this.observer.isUpgraded = true;
    return (wasCut) => this.finish(!wasCut, info.bytesIn - bytesIn, info.bytesOut - bytesOut);
  }

  #requested(at: number): void {
    this.request.lastByteAt = at;
    if (this.observer) this.observer.isRequestComplete = true;
  }
}

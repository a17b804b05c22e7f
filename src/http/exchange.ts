// A request and its answer, as modules and policies see and change them: the same for HTTP/1 and HTTP/2.

import type { TLSSocket } from 'node:tls';
import type { Proto, Visitor } from '../tunnel/endpoints/endpoint.ts';
import type { BodyTransform } from './body-transform.ts';
import type { HeaderList } from './header-list.ts';

/** What serves the name that the visitor came to. */
export interface ServingEndpoint {
  /** `ep_…` */
  readonly id: string;
  readonly accountId: string;
  readonly proto: Proto;
  readonly publicUrl: string;
  readonly hostname: string;
  readonly port: number;
}

/** What modules and policies decided; what was not asked is missing. */
export interface ModuleDecisions {
  /** Bytes saved are known at the end of the answer. */
  compression?: { algorithm: string; bytesSaved: number };
  /** What `log` actions of its policies said. */
  policyLogs?: readonly object[];
  /** What a module decided, under the name of its `ModuleReport`, which alone reads and writes it. */
  [report: string]: unknown;
}

/** A visitor's connection, as far as it is known when it is looked at. */
export interface VisitorConnection {
  readonly visitor: Visitor;
  readonly endpoint: ServingEndpoint;
  /** When it was accepted: the wall clock, in milliseconds. */
  readonly startedAt: number;
  /** The name in the ClientHello, in lower case; undefined without TLS, or when none was sent. */
  readonly serverName: string | undefined;
  /** The visitor's TLS, once its handshake is done and as long as the gateway ends it. */
  readonly tls: TLSSocket | undefined;
  /** What kind of TLS client it is (JA4), computed when it is read; '' or left out without TLS. */
  readonly clientFingerprint?: string;
  /** Bytes that have come from the visitor, and gone there. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Where modules say what they have decided; undefined where nobody wants to hear of the visit. */
  readonly decisions?: ModuleDecisions;
}

export interface HttpRequest {
  readonly method: string;
  readonly version: 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2.0';
  readonly scheme: 'http' | 'https';
  /** The Host header's value, a port included where one was sent. What is set here is what the upstream gets. */
  host: string;
  /** In origin-form, as it was sent: `/path?query`, or `*`. What is set here is what the upstream gets. */
  target: string;
  /** Host and target as the visitor has sent them, whatever was set since; left out: nothing was. */
  readonly received?: Readonly<{ host: string; target: string }>;
  /** The fields that go on: without Host, without those for this hop only, without those that only the gateway may say. */
  readonly fields: HeaderList;
  /** The cookies of visitors' sessions, as in `name=value`: they are not among the fields. Left out: there are none. */
  readonly visitorCookies?: readonly string[];
  /** Bytes of the body; 0 when there is none, undefined when its length is not stated. */
  readonly bodyLength: number | undefined;
  /** Whether some of the body has not come yet; left out: it has. */
  readonly hasBodyToCome?: boolean;
  /** When its head was complete: the wall clock, in milliseconds. */
  readonly receivedAt: number;
  /**
   * The whole body, decoded of its chunks. It still goes on as it came.
   * @returns undefined when it has more than 1 MiB; rejects when the visitor does not send it whole.
   */
  body(): Promise<Buffer | undefined>;
  /** Sends another body on, whose length and lack of a content coding the fields tell. The body must have been read. */
  replaceBody(body: Buffer): void;
}

export interface HttpResponse {
  status: number;
  /** The fields that go on. Those that frame the body (`Content-Length`, `Transfer-Encoding`) are in it, and not to be changed. */
  readonly fields: HeaderList;
  /** Bytes of the body; 0 when there is none, undefined when its length is not stated. */
  readonly bodyLength: number | undefined;
  /** How the gateway is to encode the body; set by compression, which also changes the fields that tell of it. */
  encoding: ContentCoding | undefined;
  /** Whether the answer comes from a module or a policy, not from upstream. */
  readonly isSynthetic: boolean;
  /**
   * The whole body, decoded of its chunks. It still goes on, with its length stated.
   * @returns undefined when it has more than 1 MiB, and can no longer go on; rejects when upstream does not send it whole.
   */
  body(): Promise<Buffer | undefined>;
  /** Sends another body on, whose length and lack of a content coding the fields tell. The body must have been read. */
  replaceBody(body: Buffer): void;
  /**
   * Sends the body through something that changes it, after what was given before and before it is encoded. A body that is
   * there as a whole is changed at once; another one as it comes. The fields tell no length then; those that tell of a
   * content coding are the caller's. Rejects as the transform does.
   */
  transformBody(transform: BodyTransform): Promise<void>;
}

export type ContentCoding = 'gzip' | 'deflate' | 'br';

/** What modules want of the way to the service and back; what none says is as everywhere. */
export interface UpstreamTerms {
  /** Whether a visitor who has ended his side still gets the answer. */
  allowsHalfClose?: boolean;
  answerTimeout?: AnswerTimeout;
  /** By which name the service is asked, in place of the endpoint's. */
  host?: ServiceHost;
}

/** A name of the service's own, or the address that its tunnel or backend leads to. */
export type ServiceHost = ServiceOrigin | 'rewrite';

/** The name of a service, as in `http://localhost:3000`. */
export interface ServiceOrigin {
  scheme: 'http' | 'https';
  /** With a port, where it is not that of the scheme. */
  host: string;
}

/** How long the service may take until its answer begins. */
export interface AnswerTimeout {
  /** Milliseconds. */
  ms: number;
  /** Who has said so, for people: to be read after "set by". */
  setBy: string;
}

/** One request and what becomes of it. */
export interface HttpExchange extends VisitorConnection {
  /** The endpoint that the visitor came to; left out: `endpoint` is it, as no policy has sent the request on. */
  readonly entrance?: ServingEndpoint;
  readonly request: HttpRequest;
  /** Once its head is there. */
  readonly response: HttpResponse | undefined;
  /** To be set before the request goes on. Missing where nothing is sent. */
  readonly upstreamTerms?: UpstreamTerms;
  /** What a module keeps from the request to the response, under itself. */
  readonly memory: Map<object, unknown>;
  /**
   * Lets something end the exchange before it is over by itself, also when it goes on in another protocol. Missing where nothing is sent.
   * @param hold is given what cuts the exchange, and returns what is called when the exchange is over.
   */
  endWith?(hold: (cut: () => void) => () => void): void;
  /** `op_…`, made when it is asked for first: answers and log lines have the same. */
  readonly operationId: string;
  /** Aborted when the visitor has gone, or the request is over for another reason: nobody needs what is still worked out. */
  readonly signal: AbortSignal;
}

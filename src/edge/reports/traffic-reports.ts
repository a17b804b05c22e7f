// Reports of traffic, for those who subscribe to them. Where nobody has subscribed, no report is made.

import type { ModuleDecisions } from '../../http/exchange.ts';
import type { LiveEndpoint, Visitor } from '../../tunnel/endpoints/endpoint.ts';

/** Copies the beginning of a body as it passes. */
export interface BodyObserver {
  /** The body is chunked from here on: the framing of the chunks is left out of the copy. */
  startChunked(): void;
  /** Takes a part of the body, which may be changed afterwards. */
  take(bytes: Buffer, start?: number, end?: number): void;
}

/** Why the gateway refused a visitor. */
export interface Refusal {
  /** The module that did it, by the name that the log has for it. */
  module: string;
  reason: string;
}

/** What is recorded of a request in addition to its report, at endpoints whose requests are captured. */
export interface RequestObserver {
  /** The other end of the connection; undefined until it is recorded. */
  peer: Visitor | undefined;
  refusal: Refusal | undefined;
  /** Whether the whole request has come. */
  isRequestComplete: boolean;
  /** Whether both sides have spoken another protocol since the head of the response. */
  isUpgraded: boolean;
  /** Undefined where bodies are not recorded. */
  readonly request: BodyObserver | undefined;
  readonly response: BodyObserver | undefined;
  /** The gateway itself sends the response. @param body of it, as it is sent. */
  sentLocalResponse(body: Buffer): void;
}

export interface TrafficReporter {
  /** Whether requests of an account are reported. It is called for every request that is not observed, and has to be fast. */
  wantsRequests(accountId: string): boolean;
  wantsConnections(accountId: string): boolean;
  /**
   * Where more is to be noted of a request to an endpoint, which then is reported in any case; undefined, or missing, for
   * nothing. It is called for every request, and has to be fast.
   */
  observe?(endpoint: ReportedEndpoint): RequestObserver | undefined;
  /**
   * Once per request, when its answer is complete, cut or given up. Must not throw, and must not wait. What the report has
   * is made when it is asked for first.
   */
  request(report: RequestReport): void;
  /** Once per TCP or TLS connection that came to an endpoint, when it is closed or was turned away. */
  connection(report: ConnectionReport): void;
}

/** An endpoint that a visitor came to. */
export type ReportedEndpoint = Pick<LiveEndpoint, 'accountId' | 'proto' | 'hostname' | 'port'>;

export const noopReporter: TrafficReporter = {
  wantsRequests: () => false,
  wantsConnections: () => false,
  request: () => {},
  connection: () => {},
};

/** The visitor's connection. */
export interface ReportedConnection {
  clientIp: string;
  serverIp: string;
  serverPort: number;
  /** The name that the visitor came to: of its ClientHello or of its Host; '' for none. */
  serverName: string;
  /** The wall clock, in milliseconds. */
  startedAt: number;
}

export interface ReportedTls {
  /** `TLSv1.3` */
  version: string;
  /** As OpenSSL's standard name. */
  cipherSuite: string;
  clientCertificate: { serialNumber: string; commonName: string } | undefined;
}

type Fields = readonly (readonly [name: string, value: string])[];

export interface RequestReport {
  accountId: string;
  /** Of the endpoint that the visitor came to. */
  endpointId: string;
  connection: ReportedConnection;
  tls: ReportedTls | undefined;
  /** Whether the stream to the agent had carried another request before. */
  isConnectionReused: boolean;
  request: {
    method: string;
    version: 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2.0';
    scheme: 'http' | 'https';
    /** With the port where one was sent. */
    host: string;
    /** In origin-form, or `*`. */
    target: string;
    /** As they came, Host included. */
    fields: Fields;
    /** Bytes of the body that have come; what frames its chunks is not counted. */
    bodyLength: number;
    /** When the head was complete: the wall clock, in milliseconds. */
    firstByteAt: number;
    /** When all of it had come; the end of the exchange where that never was. */
    lastByteAt: number;
  };
  /** Undefined when the visitor got none. Of one that is upgraded, the bodies are what passes from then on. */
  response:
    | {
        status: number;
        /** As they were sent. */
        fields: Fields;
        /** Bytes of the body that were sent, likewise. */
        bodyLength: number;
        firstByteAt: number;
        /** When it was complete, or cut. */
        lastByteAt: number;
        /** Whether all of it was sent; what the network lost on its way is not known. */
        isComplete: boolean;
      }
    | undefined;
  decisions: ModuleDecisions;
  /** Where requests are looked at one by one. */
  observer?: RequestObserver | undefined;
}

export interface ConnectionReport {
  accountId: string;
  endpointId: string;
  connection: ReportedConnection & { endedAt: number; bytesIn: number; bytesOut: number };
  decisions: ModuleDecisions;
}

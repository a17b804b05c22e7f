// What the public side tells of the traffic that has passed, to whoever wants to hear of it. Nothing of a report is made
// where nobody does.

import type { CloseUp } from './close-up/close-up.ts';

export interface TrafficReporter {
  /** Whether anybody wants to hear of the requests of an account, to an endpoint. Asked for every request: it has to be fast. */
  hearsRequests(accountId: string, endpointId: string): boolean;
  hearsConnections(accountId: string): boolean;
  /** Where more is to be noted of a request to an endpoint, whose report then has it; undefined, or missing, for nothing. */
  closeUp?(endpointId: string): CloseUp | undefined;
  /**
   * Once per request, when its answer is complete, cut or given up. Must not throw, and must not wait. What the report has
   * is made when it is asked for first.
   */
  request(report: RequestReport): void;
  /** Once per TCP or TLS connection that came to an endpoint, when it is closed or was turned away. */
  connection(report: ConnectionReport): void;
}

export const NOBODY_HEARS: TrafficReporter = {
  hearsRequests: () => false,
  hearsConnections: () => false,
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

/** What modules decided, each by itself; a module that was not asked is missing. */
export interface ModuleDecisions {
  ipPolicy?: 'allow' | 'deny';
  basicAuth?: { decision: 'allow' | 'deny'; username: string };
  circuitBreaker?: 'allow' | 'block' | 'allow_while_open';
  /** Bytes saved are known at the end of the answer. */
  compression?: { algorithm: string; bytesSaved: number };
  userAgentFilter?: 'allow' | 'deny';
  webhookVerification?: 'allow' | 'deny';
  /** What `log` actions of its policies said. */
  policyLogs?: readonly object[];
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
  closeUp?: CloseUp | undefined;
}

export interface ConnectionReport {
  accountId: string;
  endpointId: string;
  connection: ReportedConnection & { endedAt: number; bytesIn: number; bytesOut: number };
  decisions: Pick<ModuleDecisions, 'ipPolicy' | 'policyLogs'>;
}

// One request and its response, on their way through the API.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dialect } from './route.ts';

/** A request, with what every part of its handling needs. */
export interface ApiExchange {
  request: IncomingMessage;
  response: ServerResponse;
  operationId: string;
  /** What REST serves it. */
  dialect: Dialect;
  baseUrl: string;
  /** The address of the client, as `clientAddress` found it. */
  clientIp: string;
  /** Whether nobody on the way can read along: it came by TLS, here or at a proxy in front. */
  isSecure: boolean;
  /** Whether it never left this machine: it came from a loopback address, for a loopback name. */
  isLoopback: boolean;
  /** Where a stream of changes is, behind the event that is being told. */
  eventId?: string | undefined;
  /** Writes the body of its response. */
  body: BodyWriter;
  /** For the log line: filled in on the way. */
  log: RequestLogFields;
}

/** What the log line of a request says beyond the request itself. */
export interface RequestLogFields {
  keyId?: string;
  sessionId?: string;
  accountId?: string;
  errorCode?: string;
  failure?: unknown;
  operation?: string;
  signIns?: (SignInLogEntry & { ip: string })[];
  /** How a WebSocket ended. */
  close?: { code: number; reason: string };
}

/** How somebody signs in. */
export type SignInWay = 'password' | 'link' | 'single sign-on' | 'passkey';

/** Somebody signed in, or could not; for the log. */
export interface SignInLogEntry {
  outcome: 'ok' | 'failed';
  by: SignInWay;
  /** Undefined when nobody has that e-mail address, link or passkey. */
  userId: string | undefined;
  /** Why not, where that is not plain. */
  reason?: string;
}

/** Writes bodies to clients that may read slowly. */
export interface BodyWriter {
  /** @param mayCompress whether its body may be compressed: its length then tells of what is in it. */
  send(response: ServerResponse, status: number, type: string, text: string, mayCompress?: boolean): void;
}

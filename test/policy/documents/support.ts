// How policy documents and what is expected of them are written down.

import type { Proto } from '../../../src/tunnel/endpoints/endpoint.ts';

/** A request of a visitor at 127.0.0.1. */
export interface Asked {
  method?: string;
  /** `/` where nothing else is said. */
  target?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** An answer of upstream; where nothing else is said: 200, `x-upstream: yes`, `from upstream`. */
export interface Origin {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface Expected {
  /** What the visitor gets; undefined where the connection is closed without an answer. */
  status: number | undefined;
  /** Fields that must be there, with these values; names in lower case. `{host}` is the host that was visited. */
  headers?: Record<string, string>;
  /** Fields that must not be there. */
  without?: string[];
  /** The whole body. */
  body?: string;
  /** What upstream must be asked; null: it must not be asked. Left out: as it was sent. */
  upstream?: { target?: string; headers?: Record<string, string>; without?: string[] } | null;
}

/** A policy for an HTTPS endpoint, and what a visit makes of it. */
export interface ValidDocument {
  /** A promise. */
  name: string;
  /** A text is YAML or JSON. */
  policy: string | object;
  request?: Asked;
  origin?: Origin;
  expected: Expected;
}

/** A policy that is refused, and why. */
export interface InvalidDocument {
  name: string;
  policy: string | object;
  proto?: Proto;
  /** The first problem: its place, its number, and something of its text. */
  problem: [path: string, number: number, message: RegExp];
}

export const ORIGIN = { status: 200, headers: { 'x-upstream': 'yes' }, body: 'from upstream' };

type Config = Record<string, unknown>;

/** One action. */
export const action = (type: string, config?: Config) => (config ? { type, config } : { type });

/** A policy with one rule for requests. */
export const onRequest = (actions: object[], ...expressions: string[]) => ({
  on_http_request: [{ expressions, actions }],
});

/** A policy with one rule for answers. */
export const onResponse = (actions: object[], ...expressions: string[]) => ({
  on_http_response: [{ expressions, actions }],
});

/** A policy with one rule for connections. */
export const onConnect = (actions: object[], ...expressions: string[]) => ({
  on_tcp_connect: [{ expressions, actions }],
});

/** The policy as it is sent. */
export const textOf = (policy: string | object) => (typeof policy === 'string' ? policy : JSON.stringify(policy));

// What tests ask of a gateway, and as whom.

import type { OutgoingHttpHeaders } from 'node:http';
import type { Dialect } from '../../../src/api/route.ts';
import type { Gateway, GatewayOptions } from '../../../src/gateway/gateway.ts';
import type { Answer } from './http.ts';
import type { Place } from './place.ts';

export interface RequestOptions {
  /** The API key; null sends none. */
  key?: string | null;
  /** What clients written for the original service get; the documented one when left out. */
  dialect?: Dialect | undefined;
  /** On top of the usual ones; undefined leaves one out. Names in lower case. */
  headers?: OutgoingHttpHeaders;
  /** Another listener of the same gateway than `api`: what `byYoga` gave. */
  base?: string;
}

/** `body`: an object is sent as JSON, text and bytes as they are. `path`: also a whole URI, as `next_page_uri` is. */
export type Call = (method: string, path: string, body?: unknown, options?: RequestOptions) => Promise<Answer>;
export type Query = (query: string, variables?: object, options?: RequestOptions) => Promise<Answer>;

export interface Owner {
  accountId: string;
  ownerId: string;
  key: string;
  call: Call;
  graphql: Query;
}

export interface Account extends Owner {
  /** Another user or bot user of the account, with a key. */
  addOwner(options?: { role?: 'ADMIN' | 'MEMBER'; kind?: 'USER' | 'BOT' }): Promise<Owner>;
}

export interface TestOptions
  extends Partial<
    Pick<
      GatewayOptions,
      | 'now'
      | 'signerHosts'
      | 'providerHosts'
      | 'eventRequestMs'
      | 'alertPauseMs'
      | 'onlyYoga'
      | 'writeStallMs'
      | 'migrations'
      | 'dashboard'
      | 'docsRenderer'
    >
  > {
  /** Notes statements: all in `statements`, and those of some work for `statementsOf`. */
  counting?: boolean;
  /** Data of the test's own, which stays when the gateway is closed: for a second start, or a second gateway. */
  place?: Place;
}

export interface TestGateway extends Owner {
  /** Base URLs: `http://127.0.0.1:…`. */
  api: string;
  admin: string;
  /** Host and port of the other listeners. */
  agent: string;
  http: string;
  https: string;
  /** The certificate of the authority that agents and visitors are to trust, in PEM. */
  ca: string;
  app: Gateway['app'];
  registrar: Gateway['registrar'];
  events: Gateway['events'];
  first: Gateway['first'];
  signInToken: Gateway['signInToken'];
  place: Place;
  /** Everything logged, a line each. */
  logs: string[];
  /** The first line logged, now or later, that passes the test. */
  logged(test: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  /** Every statement since the start; empty it to count anew. */
  statements: string[];
  /** What `onFatal` was told. */
  fatal: string[];
  raw(bytes: string | Buffer): Promise<string>;
  /** The base URL of a second listener, which sends every GraphQL request the long way: to be given as `base`. */
  byYoga(): Promise<string>;
  /** An account of its own, so that what other tests make is not seen. */
  newAccount(options?: { role?: 'ADMIN' | 'MEMBER' }): Promise<Account>;
  /** May be called twice. */
  close(): Promise<void>;
}

// Requests, answers and connections as policies and modules see them, made by hand: no socket is behind them.

import type { TLSSocket } from 'node:tls';
import { describeOwnBody } from '../../src/http/body-fields.ts';
import { type BodyTransform, transformWhole } from '../../src/http/body-transform.ts';
import type { HttpExchange, HttpRequest, ServingEndpoint } from '../../src/http/exchange.ts';
import { HeaderList } from '../../src/http/header-list.ts';
import type { ModuleEnvironment, NewConnection, TlsParameters } from '../../src/http/module.ts';
import { refuseOutbound } from '../../src/http/outbound.ts';
import { ReachableHosts } from '../../src/net/reachable-hosts.ts';
import { refuseKeyFetch } from '../../src/policy/keys/key-cache.ts';
import type { Visitor } from '../../src/tunnel/endpoints/endpoint.ts';

type Field = readonly [name: string, value: string];
type Fields = readonly Field[] | Record<string, string>;

/** Saturday, 2026-11-21 12:00:00 UTC: the wall clock of all that is made here. */
export const NOON = Date.UTC(2026, 10, 21, 12);

export interface ConnectionShape {
  visitor?: Partial<Visitor>;
  endpoint?: Partial<ServingEndpoint>;
  /** Milliseconds; an eighth of a second before `NOON`. */
  startedAt?: number;
  serverName?: string;
  tls?: Partial<TLSSocket>;
  bytesIn?: number;
  bytesOut?: number;
}

export interface ExchangeShape extends ConnectionShape {
  method?: string;
  target?: string;
  /** The Host header's value. */
  host?: string;
  version?: HttpRequest['version'];
  scheme?: HttpRequest['scheme'];
  fields?: Fields;
  /** The request's body; what it is in bytes is its stated length, unless `isChunked`. */
  body?: string | Buffer;
  isChunked?: boolean;
  /** Of the answer; there is none without it. */
  status?: number;
  answerFields?: Fields;
  /** Bytes of the answer's body; undefined: not stated. */
  answerLength?: number;
  answerBody?: string | Buffer;
  isSynthetic?: boolean;
  /** Aborted when the visitor leaves. */
  signal?: AbortSignal;
}

export interface TestExchange extends HttpExchange {
  /** Lets an answer arrive, in place of any that was there. */
  answer(status: number, fields?: Fields): void;
}

const VISITOR: Visitor = { ip: '203.0.113.7', port: 50123, local: { ip: '192.0.2.1', port: 443 }, passthrough: false };

/** The endpoint that visitors come to: `https://app.example.com`. */
export const ENDPOINT: ServingEndpoint = {
  id: 'ep_2test',
  accountId: 'ac_2test',
  proto: 'https',
  publicUrl: 'https://app.example.com',
  hostname: 'app.example.com',
  port: 443,
};

/** `GET / HTTP/1.1` to `https://app.example.com`, but for what is said otherwise. */
export function exchangeOf(shape: ExchangeShape = {}): TestExchange {
  const { method = 'GET', target = '/', version = 'HTTP/1.1', scheme = 'https', isSynthetic = false } = shape;
  let body: Buffer = Buffer.from(shape.body ?? '');
  const request: HttpRequest = {
    method,
    version,
    scheme,
    host: shape.host ?? 'app.example.com',
    target,
    fields: fieldsOf(shape.fields, true),
    bodyLength: shape.isChunked ? undefined : body.length,
    receivedAt: NOON,
    body: async () => (body.length > 1024 * 1024 ? undefined : body),
    replaceBody(other) {
      body = other;
      describeOwnBody(request.fields, other);
    },
  };
  const answerOf = (status: number, fields?: Fields) => {
    const list = fieldsOf(fields);
    let answer: Buffer = Buffer.from(shape.answerBody ?? '');
    const replaceAnswer = (other: Buffer) => {
      answer = other;
      describeOwnBody(list, other);
    };
    return {
      status,
      fields: list,
      bodyLength: shape.answerLength,
      encoding: undefined,
      isSynthetic,
      body: async () => answer,
      replaceBody: replaceAnswer,
      transformBody: async (transform: BodyTransform) => replaceAnswer(await transformWhole(answer, transform)),
    };
  };
  let response = shape.status === undefined ? undefined : answerOf(shape.status, shape.answerFields);
  return {
    ...visitOf(shape),
    request,
    get response() {
      return response;
    },
    memory: new Map(),
    operationId: 'op_2test',
    signal: shape.signal ?? new AbortController().signal,
    answer(status, fields) {
      response = answerOf(status, fields);
    },
  };
}

export interface TestConnection extends NewConnection {
  /** The terms that TLS was spoken with; undefined before. */
  readonly terms: TlsParameters | undefined;
}

/** A connection that has just been accepted. With `terminates`, that is the TLS it has once it is spoken. */
export function connectionOf(shape: ConnectionShape & { terminates?: Partial<TLSSocket> } = {}): TestConnection {
  const { terminates } = shape;
  let terms: TlsParameters | undefined;
  const visit = visitOf(shape);
  return {
    ...visit,
    get tls() {
      return terms ? (terminates as TLSSocket) : visit.tls;
    },
    get terms() {
      return terms;
    },
    terminateTls:
      terminates &&
      (async (wanted) => {
        terms = wanted;
        return true;
      }),
  };
}

export interface TestEnvironment extends ModuleEnvironment {
  /** Lets both clocks go on. */
  pass(milliseconds: number): void;
  /** What was logged, in order. */
  readonly notes: object[];
}

/** A world whose clock stands still at `NOON`, whose chance is one half, and that has no internal endpoints but these. */
export function environmentOf(internal: ModuleEnvironment['internal'] = () => undefined): TestEnvironment {
  let passed = 0;
  const notes: object[] = [];
  return {
    now: () => 1000 + passed,
    time: () => NOON + passed,
    note: (_about, metadata) => void notes.push(metadata),
    internal,
    policyHosts: new ReachableHosts([], true),
    secrets: { of: () => new Map() },
    signingKey: refuseKeyFetch,
    sendOutbound: refuseOutbound,
    pass(milliseconds) {
      passed += milliseconds;
    },
    notes,
  };
}

function visitOf(shape: ConnectionShape) {
  return {
    visitor: { ...VISITOR, ...shape.visitor },
    endpoint: { ...ENDPOINT, ...shape.endpoint },
    startedAt: shape.startedAt ?? NOON - 125,
    serverName: shape.serverName,
    tls: shape.tls as TLSSocket | undefined,
    bytesIn: shape.bytesIn ?? 321,
    bytesOut: shape.bytesOut ?? 0,
  };
}

function fieldsOf(fields: Fields = [], isOfRequest = false): HeaderList {
  return new HeaderList(Array.isArray(fields) ? fields : Object.entries(fields), isOfRequest);
}

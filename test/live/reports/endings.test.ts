// However a request ends, it is told of once: upstreams, visitors and modules that do their worst, all at the same time.

import type { ClientHttp2Session } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ModuleChain } from '../../../src/edge/pipeline/rules/module-chain.ts';
import type { HttpModule, Verdict } from '../../../src/http/module.ts';
import type { LiveEndpoint } from '../../../src/tunnel/endpoints/endpoint.ts';
import { type Edge as Http1Edge, type Peer, startEdge as startHttp1, startUpstream } from '../../edge/http1/support.ts';
import { cut, type Edge as Http2Edge, startEdge as startHttp2 } from '../../edge/tls/support.ts';
import { Hearer, visitsFor } from './lab.ts';

const NAME = 'app.tunnel.localhost';
const QUICK = { upstreamTimeout: 80, stallTimeout: 80 };
const hearer = new Hearer();
let http1: Http1Edge;
let http2: Http2Edge;

beforeAll(async () => {
  http1 = await startHttp1({ settings: QUICK, context: { services: visitsFor(hearer) } });
  http2 = await startHttp2({ settings: QUICK, visits: visitsFor(hearer) });
});
afterAll(async () => {
  await http1.close();
  await http2.close();
});

const HEAD = 'HTTP/1.1 200 OK\r\n';
/** What upstreams do when a request has come: what they send, and how they end, if at all. */
const answers: Record<string, [bytes: string, end: 'stay' | 'end' | 'reset']> = {
  whole: [`${HEAD}Content-Length: 4\r\n\r\nbody`, 'stay'],
  chunks: [`${HEAD}Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n`, 'stay'],
  close: [`${HEAD}\r\nbody`, 'end'],
  surplus: [`${HEAD}Content-Length: 1\r\n\r\nbody`, 'stay'],
  halfAndEnd: [`${HEAD}Content-Length: 9\r\n\r\nbody`, 'end'],
  halfAndReset: [`${HEAD}Content-Length: 9\r\n\r\nbody`, 'reset'],
  halfAndStay: [`${HEAD}Content-Length: 9\r\n\r\nbody`, 'stay'],
  badChunk: [`${HEAD}Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\nx\r\n`, 'stay'],
  head: [HEAD, 'end'],
  garbage: ['what?\r\n\r\n', 'stay'],
  silent: ['', 'stay'],
  end: ['', 'end'],
  reset: ['', 'reset'],
};
const verdicts: Record<string, Verdict> = {
  pass: undefined,
  refuse: { kind: 'refuse', error: 'policyFailed', reason: '' },
  close: { kind: 'close', reason: '' },
  answer: { kind: 'answer', status: 200, fields: [], body: Buffer.from('own') },
};
const delay = fc.constantFrom(-1, 0, 1, 3);
const scenario = fc.record({
  answer: fc.constantFrom(...Object.keys(answers)),
  body: fc.constantFrom('none', 'whole', 'half', 'bad'),
  request: fc.constantFrom('none', ...Object.keys(verdicts), 'throw'),
  requestAfter: delay,
  response: fc.constantFrom('none', ...Object.keys(verdicts), 'throw'),
  responseAfter: delay,
  visitor: fc.constantFrom('stay', 'end', 'reset'),
  /** Turns of the event loop after which the visitor does so. */
  leavesAfter: fc.constantFrom(0, 1, 2, 3, 5, 8, 13, 21, 34),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
}

/** Each request says in its path what is to be done to it. */
const targetOf = (each: Scenario) => `/${encodeURIComponent(JSON.stringify(each))}`;
const scenarioOf = (target: string): Scenario => JSON.parse(decodeURIComponent(target.slice(1)));

const decide = (side: 'request' | 'response', target: string) => {
  const each = scenarioOf(target);
  const [name, after] = side === 'request' ? [each.request, each.requestAfter] : [each.response, each.responseAfter];
  const verdict = () => {
    if (name === 'throw') throw new Error('the module fails');
    return verdicts[name];
  };
  return after < 0 ? verdict() : turns(after).then(verdict);
};
const module: HttpModule = {
  name: 'does its worst',
  onRequest: ({ request }) => decide('request', request.target),
  onResponse: ({ request }) => decide('response', request.target),
};
const route = { chain: new ModuleChain([module]), convertsWebsockets: false, upstream: (to: LiveEndpoint) => to };
const rules = { connection: [], tls: undefined, route: () => route };

async function serve(peer: Peer): Promise<void> {
  const head = await peer.until('\r\n\r\n').catch(() => '');
  const target = /^\S+ (\S+)/.exec(head)?.[1];
  if (!target) return;
  const [bytes, end] = answers[scenarioOf(target).answer] as (typeof answers)[string];
  peer.send(bytes);
  if (end === 'end') peer.socket.end();
  if (end === 'reset') peer.socket.resetAndDestroy();
}

/** A visitor of HTTP/1; done when the connection is closed. */
async function visitHttp1(each: Scenario): Promise<void> {
  const socket = connectTcp({ port: http1.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('end', () => socket.end());
  socket.resume();
  const framing = each.body === 'none' ? '' : 'Transfer-Encoding: chunked\r\n';
  const body = { none: '', whole: '1\r\na\r\n0\r\n\r\n', half: '2\r\na', bad: 'x\r\n' }[each.body];
  socket.write(`POST ${targetOf(each)} HTTP/1.1\r\nHost: ${NAME}\r\nConnection: close\r\n${framing}\r\n${body}`);
  await new Promise((resolve) => socket.once('connect', resolve));
  await turns(each.leavesAfter);
  if (each.visitor === 'end') socket.end();
  if (each.visitor === 'reset') socket.resetAndDestroy();
  await closed;
}

/** A visitor of HTTP/2, several of whom share a connection; done when the stream is closed. */
async function visitHttp2(each: Scenario, session: ClientHttp2Session): Promise<void> {
  const fields = each.body === 'bad' ? { 'content-length': '1' } : {};
  const stream = session.request({ ':path': targetOf(each), ':method': 'POST', ...fields }).on('error', () => {});
  const closed = new Promise((resolve) => stream.once('close', resolve));
  stream.resume();
  if (each.body === 'none' || each.body === 'bad') stream.end();
  else stream.write('a');
  if (each.body === 'whole') stream.end();
  await turns(each.leavesAfter);
  if (each.visitor === 'end') stream.close();
  if (each.visitor === 'reset') cut(session);
  await closed;
}

async function allOfHttp2(all: Scenario[]): Promise<void> {
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => http2.visitHttp2(NAME)));
  await Promise.all(all.map((each, i) => visitHttp2(each, sessions[i % SESSIONS] as ClientHttp2Session)));
  for (const session of sessions) cut(session);
}

const ROUNDS = 3;
const SESSIONS = 15;
test.each([
  ['HTTP/1', (all: Scenario[]) => Promise.all(all.map(visitHttp1))],
  ['HTTP/2', allOfHttp2],
] as const)('requests of %s are told of once each', { timeout: 30_000 }, async (protocol, visit) => {
  const port = await startUpstream((peer) => void serve(peer));
  Object.assign(http1.serve(NAME, port), { rules });
  http2.endpoints.add(Object.assign(http2.agent.tunnel(NAME, port), { rules }));
  const { counters } = protocol === 'HTTP/1' ? http1 : http2;
  const before = counters.requests;
  const many = fc.array(scenario, { minLength: 50, maxLength: 50 });
  const isDone = async () => {
    while (http1.limit.open > 0 || http2.listener.size > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  await fc.assert(
    fc.asyncProperty(many, async (all) => {
      const [asked, told] = [counters.requests, hearer.requests.length];
      await visit(all);
      await isDone();
      expect(hearer.requests.length - told).toBe(counters.requests - asked);
      for (const { request, response } of hearer.requests.slice(told)) {
        expect(request.lastByteAt).toBeGreaterThanOrEqual(request.firstByteAt);
        if (!response) continue;
        expect(response.lastByteAt).toBeGreaterThanOrEqual(response.firstByteAt);
        const stated = response.fields.find(([name]) => name.toLowerCase() === 'content-length')?.[1];
        if (stated !== undefined && response.isComplete) expect(response.bodyLength).toBe(Number(stated));
      }
    }),
    { numRuns: ROUNDS, endOnFailure: true },
  );
  expect(counters.requests - before).toBeGreaterThan(ROUNDS * 20);
  await turns(50); // What comes late would come now.
  const targets = hearer.requests.splice(0);
  expect(targets).toHaveLength(counters.requests - before);
});

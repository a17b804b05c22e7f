// Whatever upstreams answer, the gateway lives, every request ends, and everybody else is served.

import { request as overHttps } from 'node:https';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ask as askHttp2 } from '../http2/support.ts';
import { listen } from '../sockets.ts';
import { cut, type Edge, startEdge } from '../tls/support.ts';
import { type Nonsense, nonsenseOf, randomOf } from './random-responses.ts';
import { serveHttp1, serveHttp2 } from './response-upstreams.ts';

/** Of each pair of protocols. More, or the answers of a failure again: `ANSWERS=10000 ANSWERS_SEED=<seed>`. */
const ANSWERS = Number(process.env.ANSWERS ?? 80);
const SEED = Number(process.env.ANSWERS_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Far more than any of these answers takes. */
const LATE_MS = 20_000;

const lanes = (['http1', 'http2'] as const).flatMap((upstream) =>
  (['http1', 'http2'] as const).map((visitor) => ({
    upstream,
    visitor,
    name: `${upstream}-${visitor}.tunnel.localhost`,
  })),
);
type Lane = (typeof lanes)[number];

test('no answer of an upstream ends the process, and every request ends', {
  timeout: 60_000 + ANSWERS * 50,
}, async () => {
  const edge = await startEdge({ settings: { upstreamTimeout: 15_000 } });
  onTestFinished(() => edge.close());
  const thrown = uncaught();
  const ended = await Promise.all(lanes.map((lane, i) => fuzz(edge, lane, randomOf(SEED + i))));
  const why = `seed ${SEED}`;
  expect(thrown, why).toEqual([]);
  expect(ended, why).toEqual(lanes.map(() => ANSWERS));
});

/** @returns how many requests have ended. */
async function fuzz(edge: Edge, lane: Lane, random: () => number): Promise<number> {
  let next: Nonsense | undefined;
  const answer = (): Nonsense => next ?? { ...PLAIN };
  const server = createServer((socket) => (lane.upstream === 'http1' ? serveHttp1 : serveHttp2)(socket, answer));
  const endpoint = edge.serve(lane.name, await listen(server), { upstreamProtocol: lane.upstream });
  onTestFinished(() => {
    edge.endpoints.remove(endpoint);
    server.close();
  });
  const visitor = visitorOf(edge, lane);
  onTestFinished(() => visitor.close());
  for (let i = 0; i < ANSWERS; i++) {
    next = nonsenseOf(random);
    const about = () => `seed ${SEED}, ${lane.name}, answer ${i}: ${JSON.stringify(next, shortly)}`;
    await inTime(visitor.ask(random() < 0.2 ? 'HEAD' : 'GET'), about);
    if (i % 10 !== 9) continue;
    next = undefined;
    expect(await inTime(visitor.ask('GET'), about), about()).toBe(200);
  }
  return ANSWERS;
}

const PLAIN: Nonsense = {
  interims: [],
  status: '200',
  fields: [['content-type', 'text/plain']],
  body: Buffer.from('plain'),
  trailers: [],
  framing: 'length',
  isBroken: false,
};

/** Exceptions that would have ended the process, from now on. */
function uncaught(): unknown[] {
  const thrown: unknown[] = [];
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => thrown.push(error.stack));
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException');
    for (const listener of others) process.on('uncaughtException', listener);
  });
  return thrown;
}

interface Visitor {
  /** @returns the status; none when there was no answer. Never rejects. */
  ask(method: string): Promise<number | undefined>;
  close(): void;
}

function visitorOf(edge: Edge, { visitor, name }: Lane): Visitor {
  if (visitor === 'http1') return { ask: (method) => askHttp1(edge, name, method), close() {} };
  let session: Awaited<ReturnType<Edge['visitHttp2']>> | undefined;
  return {
    async ask(method) {
      if (!session || session.closed || session.destroyed) session = await edge.visitHttp2(name);
      const { headers } = await askHttp2(session, { ':method': method });
      return Number(headers[':status']);
    },
    close: () => session && cut(session),
  };
}

async function askHttp1(edge: Edge, name: string, method: string): Promise<number | undefined> {
  const { port, ca } = edge;
  const sent = overHttps({
    host: '127.0.0.1',
    port,
    ca,
    servername: name,
    agent: false,
    method,
    headers: { Host: name },
  });
  let status: number | undefined;
  sent.on('response', (response) => {
    status = response.statusCode;
    response.on('error', () => {}).resume();
  });
  sent.on('error', () => {}).end();
  await new Promise((resolve) => sent.once('close', resolve));
  return status;
}

async function inTime<T>(promise: Promise<T>, about: () => string): Promise<T> {
  let late: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error(`does not end: ${about()}`)), LATE_MS);
  });
  return Promise.race([promise, deadline]).finally(() => clearTimeout(late));
}

function shortly(key: string, value: unknown): unknown {
  return key === 'body' ? undefined : value;
}

// Hostile heads: one request in is at most one request out.

import { createServer as createHttpServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MORE, REFUSED } from '../../../src/edge/codec/head-reader.ts';
import { RequestHead } from '../../../src/edge/codec/request-head.ts';
import { visitorErrors } from '../../../src/http/visitor-errors.ts';
import { listen } from '../sockets.ts';
import type { HostileRequest } from './hostile-request.ts';
import { corpus } from './hostile-requests.ts';
import { allowHalfClose, type Edge, startEdge, visit } from './support.ts';

let edge: Edge;
let reached = 0;
const upstream = createHttpServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
  request.resume().on('end', () => {
    reached++;
    response.end('ok');
  });
});

beforeAll(async () => {
  edge = await startEdge();
  const port = await listen(upstream);
  allowHalfClose(edge.serve('app.test', port));
  allowHalfClose(edge.serve('other.test', port));
});
afterAll(async () => {
  await edge.close();
  upstream.close();
});

/** Sends the bytes, in two pieces when told where to cut. @returns the statuses of all answers until the end. */
async function send({ bytes }: HostileRequest, cut = bytes.length): Promise<number[]> {
  const peer = await visit(edge.port, { allowHalfOpen: true });
  peer.send(bytes.slice(0, cut));
  if (cut < bytes.length) {
    await new Promise(setImmediate);
    peer.send(bytes.slice(cut));
  }
  peer.socket.end();
  const text = await peer.toEnd();
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

test('the corpus has at least 60 heads, each under its own name', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(60);
  expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
});

test.each(corpus)('$name', async (entry) => {
  reached = 0;
  expect(await send(entry)).toEqual(entry.statuses);
  expect(reached).toBe(entry.reaching);
});

test('cutting a request in two on the wire changes nothing', async () => {
  for (const entry of corpus) {
    for (const part of [0.5, 0.9]) {
      const cut = Math.floor(entry.bytes.length * part);
      reached = 0;
      expect(await send(entry, cut), `${entry.name}, cut at ${cut}`).toEqual(entry.statuses);
      expect(reached, entry.name).toBe(entry.reaching);
    }
  }
});

/** What the parser makes of a head in pieces. */
function parsed(...pieces: Buffer[]): unknown {
  const head = new RequestHead();
  let before = 0;
  for (const piece of pieces) {
    const end = head.read(piece, 0);
    if (end === REFUSED) return visitorErrors[head.refusal].number;
    if (end !== MORE) {
      const text = (start: number, until: number) => head.bytes.toString('latin1', start, until);
      const { hostname, bodyLength, isUpgrade, wantsKeepAlive, drops, line } = head;
      const dropped: string[] = [];
      for (let i = 0; i < drops.length; i += 2) dropped.push(text(drops[i] as number, drops[i + 1] as number));
      const target = text(line.targetStart, line.targetEnd);
      return {
        end: before + end,
        hostname,
        bodyLength,
        isUpgrade,
        wantsKeepAlive,
        dropped,
        target,
        head: text(head.start, head.end),
      };
    }
    before += piece.length;
  }
  return 'incomplete';
}

test('every way of cutting a head in two gives the same', () => {
  for (const { name, bytes } of corpus) {
    const whole = Buffer.from(bytes, 'latin1');
    const expected = JSON.stringify(parsed(whole));
    const changing: number[] = [];
    // The ways to cut the largest ones differ only in length.
    const step = whole.length < 500 ? 1 : Math.ceil(whole.length / 60);
    for (let cut = 1; cut < whole.length; cut += step)
      if (JSON.stringify(parsed(whole.subarray(0, cut), whole.subarray(cut))) !== expected) changing.push(cut);
    expect(changing, name).toEqual([]);
  }
});

test('a head that comes byte by byte gives the same', () => {
  for (const { name, bytes } of corpus) {
    // What is wrong with a line is seen at its end.
    const whole = Buffer.from(`${bytes}\r\n`, 'latin1');
    const pieces = Array.from(whole, (byte) => Buffer.of(byte));
    expect(parsed(...pieces), name).toEqual(parsed(whole));
  }
});

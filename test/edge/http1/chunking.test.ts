// In whatever pieces requests and answers come, they are relayed byte for byte.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Edge, type Peer, startEdge, startScript, visit } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

const VISITOR = 'X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: app.test\r\n\r\n';

const text = (maxLength: number) =>
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)), maxLength });
const value = fc.string({ unit: fc.constantFrom(...'abc ,;="/\xe4\xff'), maxLength: 20 });
const fields = fc
  .array(
    fc.tuple(fc.constantFrom('Accept', 'Cookie', 'X-A', 'Via', 'Trailer', 'Upgrade-Insecure-Requests', 'TE-x'), value),
  )
  .map((all) => all.map(([name, content]) => `${name}: ${content}\r\n`).join(''));

/** A body with the field that frames it. */
const body = fc.oneof(
  fc.constant({ framing: '', bytes: '' }),
  text(3000).map((bytes) => ({ framing: `Content-Length: ${bytes.length}\r\n`, bytes })),
  fc
    .tuple(fc.array(text(300).filter((chunk) => chunk !== '')), fc.constantFrom('', 'X-Sum: 1\r\n', 'A: b\r\nC: d\r\n'))
    .map(([chunks, trailer]) => ({
      framing: 'Transfer-Encoding: chunked\r\n',
      bytes: `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n${trailer}\r\n`,
    })),
);

const exchange = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'HEAD', 'PURGE'),
    more: fields,
    request: body,
    interim: fc.constantFrom('', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
    status: fc.constantFrom('200 OK', '204 No Content', '304 Not Modified', '500'),
    answerFields: fields,
    answer: body,
  })
  .map(({ method, more, request, interim, status, answerFields, answer }) => {
    const head = `${method} /a HTTP/1.1\r\nHost: app.test\r\n${more}${request.framing}`;
    const hasBody = method !== 'HEAD' && !/^204|^304/.test(status);
    // Without a length the answer would only end with the connection.
    const framing = status.startsWith('204') ? '' : answer.framing || (hasBody ? 'Content-Length: 0\r\n' : '');
    return {
      sent: `${head}\r\n${request.bytes}`,
      forwarded: `${head}${VISITOR}${request.bytes}`,
      answered: `${interim}HTTP/1.1 ${status}\r\n${answerFields}${framing}\r\n${hasBody ? answer.bytes : ''}`,
    };
  });

/** Sends text in pieces that the other side may see one by one. */
async function sendInPieces(peer: Peer, all: string, cuts: readonly number[]): Promise<void> {
  let from = 0;
  for (const cut of [...cuts.map((share) => Math.floor(share * all.length)).sort((a, b) => a - b), all.length]) {
    if (cut === from) continue;
    peer.send(all.slice(from, cut));
    from = cut;
    await new Promise(setImmediate);
  }
}

test('any requests and answers, in any pieces', async () => {
  const app = await startScript();
  edge.serve('app.test', app.port);
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.array(exchange, { minLength: 1, maxLength: 4 }), cuts, cuts, async (exchanges, there, back) => {
      const visitor = await visit(edge.port);
      const sending = sendInPieces(visitor, exchanges.map(({ sent }) => sent).join(''), there);
      const upstream = await app.next();
      for (const { forwarded, answered } of exchanges) {
        await upstream.until((received) => received.length >= forwarded.length);
        expect(upstream.take()).toBe(forwarded);
        await sendInPieces(upstream, answered, back);
      }
      const expected = exchanges.map(({ answered }) => answered).join('');
      expect(await visitor.until((received) => received.length >= expected.length)).toBe(expected);
      await sending;
      visitor.socket.destroy();
      upstream.socket.destroy();
    }),
    { numRuns: 150 },
  );
});

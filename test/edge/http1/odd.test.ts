// What is oddly written, and served by nginx and HAProxy alike: what becomes of it on its way. The next hop gets it as the
// strictest reading has it, so that it cannot find another end or another meaning than was found here.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { Body, CHUNKED, INVALID } from '../../../src/edge/codec/body.ts';
import { FOREIGN_NAMESPACE } from '../../../src/tunnel/control/compatibility.ts';
import { type Edge, startEdge, startScript, visit } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

const VISITOR = (host: string) =>
  `X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: ${host}\r\n\r\n`;
const POST = 'POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n';
const OK = 'HTTP/1.1 200 OK\r\n';
const LENGTH = 'Content-Length: 2\r\n';
const CHUNKS = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const PLAIN = '2\r\nok\r\n0\r\n\r\n';

/** Sends bytes, whole or in pieces that the other side may see one by one. */
async function send(peer: { send(bytes: string): unknown }, bytes: string, inPieces: boolean): Promise<void> {
  const size = inPieces ? Math.ceil(bytes.length / 30) : bytes.length;
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.slice(at, at + size);
    peer.send(piece);
    if (inPieces) await new Promise(setImmediate);
  }
}

/** What the upstream gets of a request of which all is sent. */
async function forwarded(request: string, until: string, inPieces = false): Promise<string> {
  const app = await startScript();
  edge.serve('app.test', app.port);
  edge.serve('a_b.test', app.port);
  const visitor = await visit(edge.port);
  await send(visitor, request, inPieces);
  const upstream = await app.next();
  const received = await upstream.until((text) => text.endsWith(until));
  upstream.send(`${OK}${LENGTH}\r\nok`);
  expect(await visitor.until('ok')).toBe(`${OK}${LENGTH}\r\nok`);
  return received;
}

/** All that a visitor gets of an answer, until the end of either. */
async function answered(answer: string, inPieces = false, version = '1.1'): Promise<string> {
  const app = await startScript();
  edge.serve('app.test', app.port);
  const visitor = (await visit(edge.port)).send(`GET / HTTP/${version}\r\nHost: app.test\r\nConnection: close\r\n\r\n`);
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  await send(upstream, answer, inPieces);
  return visitor.toEnd();
}

/** A name as it is sent, and whether it arrives. */
test.each<[string, boolean]>([
  ['X_Device', true],
  ['_', true],
  ['Content-_Length', true],
  ['content_type', true],
  ['Content_Length', false],
  ['CONTENT_LENGTH', false],
  ['Transfer_Encoding', false],
  ['X_Forwarded_For', false],
  ['X-Forwarded_Proto', false],
  ['X_Real_IP', false],
  ['X_Real-Ip', false],
  ['Proxy_Connection', false],
  ['Keep_Alive', false],
  ['Gateway_Mtls_Subject', false],
  ['GATEWAY_AUTH_USER_EMAIL', false],
  ['Gateway-Auth-User_Email', false],
  [`${FOREIGN_NAMESPACE}_Auth_User-Email`, false],
  ['Gateway-Auth-User-Email', false],
  ['gateway-auth-anything', false],
  [`${FOREIGN_NAMESPACE.toUpperCase()}-AUTH-USER-EMAIL`, false],
  [`${FOREIGN_NAMESPACE}-Mtls-Subject-Cn`, false],
  [`${FOREIGN_NAMESPACE}-Skip-Browser-Warning`, true],
  ['Gateway-Author', true],
])('what only the gateway says, and what CGI would read as that, does not go on: %s', async (name, goesOn) => {
  const received = await forwarded(`GET / HTTP/1.1\r\nHost: app.test\r\n${name}: 1\r\n\r\n`, '\r\n\r\n');
  expect(received).toBe(`GET / HTTP/1.1\r\nHost: app.test\r\n${goesOn ? `${name}: 1\r\n` : ''}${VISITOR('app.test')}`);
});

test.each(['app.test:', 'a_b.test', 'A_B.test:8080'])('a Host such as %s finds its endpoint', async (host) => {
  const received = await forwarded(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`, '\r\n\r\n');
  expect(received).toBe(`GET / HTTP/1.1\r\nHost: ${host}\r\n${VISITOR(host)}`);
});

/** Chunks as they are sent, and as they go on. */
const chunksOfRequests: [name: string, sent: string, forwarded: string][] = [
  ['an extension', '2;a=b\r\nok\r\n0\r\n\r\n', PLAIN],
  ['an extension at the last chunk', '2\r\nok\r\n0;a\r\n\r\n', PLAIN],
  ['several, with blanks', '2 ; a = "b;c" ;d\r\nok\r\n0\t;e\r\n\r\n', PLAIN],
  ['an empty one', '2;\r\nok\r\n0;;\r\n\r\n', PLAIN],
  ['a quoted pair', '2;a="\\"\\\\"\r\nok\r\n0\r\n\r\n', PLAIN],
  ['one as long as may be', `2;${'a'.repeat(1023)}\r\nok\r\n0\r\n\r\n`, PLAIN],
  ['a trailer after one', '2;a\r\nok\r\n0;b\r\nX_Sum: 1\r\n\r\n', '2\r\nok\r\n0\r\nX_Sum: 1\r\n\r\n'],
  ['chunks like those of AWS', '2;chunk-signature=ad80c7\r\nok\r\n0;chunk-signature=b6c0\r\n\r\n', PLAIN],
];

const chunksOfAnswers: typeof chunksOfRequests = [
  ...chunksOfRequests,
  ['blanks after a size', '2  \r\nok\r\n0 \t\r\n\r\n', PLAIN],
  ['LF alone after sizes', '2\nok\r\n0\n\r\n', PLAIN],
  ['LF alone everywhere', '2\nok\n0\n\n', PLAIN],
  ['LF alone after an extension, and after blanks', '2;a=b\nok\r\n0 \n\n', PLAIN],
  ['LF alone in the trailer', '2\r\nok\r\n0\r\nA: b\nC: d\n\n', '2\r\nok\r\n0\r\nA: b\r\nC: d\r\n\r\n'],
  ['Content-Length in the trailer', '2\r\nok\r\n0\r\nContent-Length: 5\r\n\r\n', PLAIN],
  [
    'fields that must not be in a trailer, and others',
    '2\r\nok\r\n0\r\nA: b\r\nTransfer-Encoding: chunked\r\nC: d\r\nset_cookie: x\nhost: y\r\nE: \r\nAuthorization: z\r\n\r\n',
    '2\r\nok\r\n0\r\nA: b\r\nC: d\r\nE: \r\n\r\n',
  ],
];

test.each(chunksOfRequests)('a request has chunks with %s', async (_, sent, expected) => {
  for (const inPieces of [false, true])
    expect(await forwarded(`${POST}\r\n${sent}`, `\r\n\r\n${expected}`, inPieces)).toBe(
      `${POST}${VISITOR('app.test')}${expected}`,
    );
});

test.each(chunksOfAnswers)('an answer has chunks with %s', async (_, sent, expected) => {
  for (const inPieces of [false, true])
    expect(await answered(CHUNKS + sent, inPieces)).toBe(
      `${OK}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${expected}`,
    );
});

test.each(chunksOfAnswers)('HTTP/1.0 gets the data of chunks alone, with %s', async (_, sent) => {
  expect(await answered(CHUNKS + sent, false, '1.0')).toBe(`${OK}Connection: close\r\n\r\nok`);
  expect(await answered(`${OK}A: b\r\nTransfer-Encoding: chunked\r\nKeep-Alive: 5\r\n\r\n${sent}`, true, '1.0')).toBe(
    `${OK}A: b\r\nConnection: close\r\n\r\nok`,
  );
});

test('however chunks are cut, the same goes on', () => {
  const many = `${'2\r\nok\r\n'.repeat(20)}0\r\n\r\n`;
  const manyOdd = `${'2;a\r\nok\r\n'.repeat(20)}0\r\n\r\n`;
  for (const [name, sent, expected] of [
    ...chunksOfAnswers,
    ['20', many, many],
    ['20 odd ones', manyOdd, many],
  ] as const) {
    const whole = Buffer.from(`..${sent}next`, 'latin1');
    const end = whole.length - 4;
    for (let first = 2; first <= end; first++) {
      for (const second of [first, Math.min(end, first + 1), Math.min(end, first + 3), end]) {
        const body = new Body(CHUNKED, true);
        const parts: string[] = [];
        for (const [from, until] of [
          [2, first],
          [first, second],
          [second, whole.length],
        ] as const) {
          const piece = whole.subarray(from - 2, until);
          const taken = body.take(piece, 2);
          expect(taken).not.toBe(INVALID);
          parts.push(body.relayed(piece, 2, taken).toString('latin1'));
          if (until === whole.length) expect(taken, name).toBe(end - from + 2);
        }
        expect(parts.join(''), `${name}, cut at ${first} and ${second}`).toBe(expected);
        expect([body.isComplete, body.taken]).toEqual([true, 2 * (expected.match(/ok/g) ?? []).length]);
      }
    }
  }
});

const closing = (fields = LENGTH) => `${OK}${fields}Connection: close\r\n\r\nok`;

test.each<[name: string, sent: string, expected: string]>([
  ['LF alone', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', closing()],
  ['LF alone after the status line', `HTTP/1.1 200 OK\n${LENGTH}\r\nok`, closing()],
  ['LF alone at the end', `${OK}${LENGTH}\nok`, closing()],
  ['LF alone after a status without a reason', 'HTTP/1.1 200\nContent-Length: 2\n\nok', closing().replace(' OK', '')],
  [
    'LF alone, with fields for this hop',
    'HTTP/1.1 200 OK\nConnection: x-hop, close\nX-Hop: 1\nKeep-Alive: timeout=5\nA: b\nContent-Length: 2\n\nok',
    closing(`A: b\r\n${LENGTH}`),
  ],
  [
    'LF alone, in an interim answer',
    `HTTP/1.1 103 Hints\nA: b\n\n${closing()}`,
    `HTTP/1.1 103 Hints\r\nA: b\r\n\r\n${closing()}`,
  ],
  ['Content-Length twice', `${OK}${LENGTH}A: b\r\ncontent-length:2\r\n\r\nok`, closing(`${LENGTH}A: b\r\n`)],
  ['HTTP/1.2', `HTTP/1.2 200 OK\r\n${LENGTH}\r\nok`, closing()],
  ['HTTP/1.9', `HTTP/1.9 200 OK\r\n${LENGTH}\r\nok`, closing()],
  [
    'a Connection that lists Content-Type',
    `${OK}Connection: close, content-type\r\nContent-Type: a/b\r\n${LENGTH}\r\nok`,
    closing(`Content-Type: a/b\r\n${LENGTH}`),
  ],
  [
    'a Connection that lists Set-Cookie and a field of its own',
    `${OK}Connection: set-cookie, x-a, date\r\nX-A: b\r\nSet-Cookie: c=d\r\n${LENGTH}\r\nok`,
    closing(`Set-Cookie: c=d\r\n${LENGTH}`),
  ],
])('an answer has a head with %s', async (_, sent, expected) => {
  for (const inPieces of [false, true]) {
    expect(await answered(sent, inPieces)).toBe(expected);
  }
});

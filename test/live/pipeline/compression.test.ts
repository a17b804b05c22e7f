// Answers that are compressed on their way: nothing waits that need not, nothing is lost, nobody makes the gateway keep it.

import { createHash, randomBytes } from 'node:crypto';
import { Agent, type IncomingMessage, request as overHttp } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { brotliDecompressSync, createBrotliDecompress, createGunzip, createInflate, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Peer, startScript } from '../../edge/http1/support.ts';
import { startUpstream } from '../../support/events/traffic.ts';
import { bodyOf, type HandledLab, http2Session, onResponse, portOf, startLab } from './lab.ts';

let lab: HandledLab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab?.close());

const MIB = 2 ** 20;
const COMPRESSES = onResponse('compress-response', { algorithms: ['gzip', 'br', 'deflate'] });
const TEXT = 'all of this is said again and again. '.repeat(100);

/** Opens an endpoint before a script, and a visitor who has asked it, and likes gzip. */
async function asked(version = 'HTTP/1.1'): Promise<{ visitor: Peer; upstream: Peer }> {
  const script = await startScript();
  const host = await lab.open(script.port, COMPRESSES);
  const visitor = await lab.visitor();
  visitor.send(`GET / ${version}\r\nHost: ${host}\r\nAccept-Encoding: gzip\r\n\r\n`);
  const upstream = await script.next();
  await upstream.until('\r\n\r\n');
  return { visitor, upstream };
}

/** The head of an answer, and what there is so far of its body, without chunks. */
function read(text: string): { head: string; body: Buffer } {
  const end = text.indexOf('\r\n\r\n') + 4;
  const head = text.slice(0, end);
  if (!/^transfer-encoding: chunked/im.test(head)) return { head, body: Buffer.from(text.slice(end), 'latin1') };
  let body = '';
  for (let at = end; ; ) {
    const [line = '', size = '0'] = /^([0-9a-f]+)\r\n/.exec(text.slice(at, at + 10)) ?? [];
    const next = at + line.length + Number.parseInt(size, 16) + 2;
    if (size === '0' || text.length < next) return { head, body: Buffer.from(body, 'latin1') };
    body += text.slice(at + line.length, next - 2);
    at = next;
  }
}

describe('an answer is whole, however upstream ends it:', () => {
  test.each([
    ['by its length', `Content-Length: ${TEXT.length}\r\n\r\n${TEXT}`, false],
    [
      'in chunks, with a trailer',
      `Transfer-Encoding: chunked\r\n\r\n${TEXT.length.toString(16)}\r\n${TEXT}\r\n0\r\nA: b\r\n\r\n`,
      false,
    ],
    [
      'in chunks, oddly written',
      `Transfer-Encoding: chunked\r\n\r\n${TEXT.length.toString(16)} ;a=b\n${TEXT}\n0  \r\nHost: a\r\nA: b\n\n`,
      false,
    ],
    ['by closing', `\r\n${TEXT}`, true],
  ])('%s', async (_, answer, closes) => {
    const { visitor, upstream } = await asked();
    upstream.send(`HTTP/1.1 200 OK\r\n${answer}`);
    if (closes) upstream.socket.end();
    await visitor.until('\r\n0\r\n\r\n');
    const { head, body } = read(visitor.text);
    expect(head).toMatch(/^content-encoding: gzip\r$/im);
    expect(head).not.toMatch(/content-length|connection: close/i);
    expect(String(gunzipSync(body))).toBe(TEXT);
  });

  test.each([
    ['by its length', `Content-Length: ${TEXT.length}\r\n\r\n${TEXT}`],
    ['in chunks', `Transfer-Encoding: chunked\r\n\r\n${TEXT.length.toString(16)};a\r\n${TEXT}\r\n0\r\n\r\n`],
  ])('to HTTP/1.0, which knows no chunks, it ends with the connection: %s', async (_, answer) => {
    const { visitor, upstream } = await asked('HTTP/1.0');
    upstream.send(`HTTP/1.1 200 OK\r\n${answer}`);
    await visitor.untilEnd();
    const { head, body } = read(visitor.text);
    expect(head).toMatch(/content-encoding: gzip\r\n.*Connection: close/is);
    expect(head).not.toMatch(/transfer-encoding/i);
    expect(String(gunzipSync(body))).toBe(TEXT);
  });
});

test('an answer that upstream breaks off is cut, and not ended', async () => {
  const { visitor, upstream } = await asked();
  upstream.send(`HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${TEXT}`);
  await visitor.until((text) => read(text).body.length > 10);
  upstream.socket.resetAndDestroy();
  expect(await visitor.closed).not.toBe('end');
  expect(visitor.text).not.toContain('\r\n0\r\n\r\n');
});

test('each event comes as it is sent, before the next', async () => {
  const { visitor, upstream } = await asked();
  upstream.send('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n');
  const inflate = createGunzip();
  let seen = '';
  inflate.on('data', (chunk) => {
    seen += chunk;
  });
  let given = 0;
  for (let event = 0; event < 5; event++) {
    upstream.send(`9\r\ndata: ${event}\n\n\r\n`);
    while (!seen.includes(`data: ${event}\n\n`)) {
      await visitor.until((text) => read(text).body.length > given);
      const { body } = read(visitor.text);
      await new Promise<void>((resolve) => inflate.write(body.subarray(given), () => setImmediate(resolve)));
      given = body.length;
    }
  }
});

/** Half noise, half text: as most of what is compressed. */
async function startLarge(mebibytes: number) {
  const checksum = createHash('sha256');
  const block = Buffer.concat([randomBytes(MIB / 2), Buffer.alloc(MIB / 2, 'text')]);
  let sent = 0;
  const upstream = await startUpstream((_, response) => {
    const send = () => {
      while (sent < mebibytes) {
        sent++;
        block.writeUInt32BE(sent);
        checksum.update(block);
        if (!response.write(Buffer.from(block))) return void response.once('drain', send);
      }
      response.end();
    };
    send();
  });
  return { port: portOf(upstream.url), sum: () => checksum.digest('hex'), sent: () => sent };
}

/** The answer to a visitor who likes one coding. */
function answerOf(host: string, coding: string): Promise<IncomingMessage> {
  const [address, port] = lab.gateway.http.split(':');
  const headers = { host, 'accept-encoding': coding };
  return new Promise((resolve, reject) =>
    overHttp({ host: address, port, headers, agent: false }, resolve).on('error', reject).end(),
  );
}

async function checksumOf(source: Readable, coding: string): Promise<string> {
  const decoder = { gzip: createGunzip, br: createBrotliDecompress, deflate: createInflate }[coding];
  const checksum = createHash('sha256');
  await pipeline(source, decoder?.() ?? createGunzip(), checksum);
  return checksum.digest('hex');
}

test.each([
  ['br', 2],
  ['deflate', 2],
])('through %s, %i MiB come whole', async (coding, mebibytes) => {
  const large = await startLarge(mebibytes);
  const host = await lab.open(large.port, COMPRESSES);
  const answer = await answerOf(host, coding);
  expect(answer.headers['content-encoding']).toBe(coding);
  expect(await checksumOf(answer, coding)).toBe(large.sum());
});

test.each(['http', 'https'] as const)(
  '%s: an upstream that closes behind its answer does not cut it',
  async (protocol) => {
    const text = randomBytes(MIB).toString('hex');
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { connection: 'close', 'content-length': text.length }).end(text);
    });
    const host = await lab.open(portOf(upstream.url), COMPRESSES, { protocol });
    const session = protocol === 'https' ? http2Session(lab.gateway, host) : undefined;
    for (let i = 0; i < 3; i++) {
      const answer = session ? session.request({ 'accept-encoding': 'gzip' }) : await answerOf(host, 'gzip');
      expect(await checksumOf(answer, 'gzip')).toBe(createHash('sha256').update(text).digest('hex'));
    }
  },
);

test('over HTTP/2, 2 MiB come whole', async () => {
  const large = await startLarge(2);
  const host = await lab.open(large.port, COMPRESSES, { protocol: 'https' });
  const stream = http2Session(lab.gateway, host).request({ 'accept-encoding': 'gzip' });
  expect(await checksumOf(stream, 'gzip')).toBe(large.sum());
});

test('a visitor who stops reading stops upstream, and nobody else; nothing is lost when it goes on', async () => {
  const [stalled, other] = [await startLarge(32), await startLarge(2)];
  const answer = await answerOf(await lab.open(stalled.port, COMPRESSES), 'gzip');
  answer.pause();
  expect(await checksumOf(await answerOf(await lab.open(other.port, COMPRESSES), 'gzip'), 'gzip')).toBe(other.sum());
  // It gets no further, for as long as a hundred looks take.
  let [last, looks] = [-1, 0];
  await expect
    .poll(
      () => {
        looks = stalled.sent() === last ? looks + 1 : 0;
        last = stalled.sent();
        return looks;
      },
      { interval: 10 },
    )
    .toBeGreaterThan(100);
  // What the kernel takes into its send buffers, 4 MB a connection and twice as much of what is compressed, is sent.
  expect(stalled.sent()).toBeLessThan(26);
  expect(await checksumOf(answer, 'gzip')).toBe(stalled.sum());
});

describe('many compressed answers on one connection do not use up what upstream may send:', () => {
  const HEAD = { 'x-long': 'x'.repeat(8000) };
  const COUNT = 40; // Their heads alone are more than a stream's window.

  test('HTTP/1.1', async () => {
    const upstream = await startUpstream((_, response) => response.writeHead(200, HEAD).end(TEXT));
    const host = await lab.open(portOf(upstream.url), COMPRESSES);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const [address, port] = lab.gateway.http.split(':');
    for (let i = 0; i < COUNT; i++) {
      const headers = { host, 'accept-encoding': 'br' };
      const chunks = await new Promise<Buffer[]>((resolve, reject) => {
        const request = overHttp({ host: address, port, headers, agent }, async (response) => {
          resolve(await response.toArray());
        });
        request.on('error', reject).end();
      });
      expect(String(brotliDecompressSync(Buffer.concat(chunks)))).toBe(TEXT);
    }
    agent.destroy();
  });

  test('HTTP/2', async () => {
    const upstream = await startUpstream((_, response) => response.writeHead(200, HEAD).end(TEXT));
    const host = await lab.open(portOf(upstream.url), COMPRESSES, { protocol: 'https' });
    const session = http2Session(lab.gateway, host);
    for (let i = 0; i < COUNT; i++) {
      const body = await bodyOf(session.request({ 'accept-encoding': 'br' }));
      expect(String(brotliDecompressSync(body))).toBe(TEXT);
    }
  });
});

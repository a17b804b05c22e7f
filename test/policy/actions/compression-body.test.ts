import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { BodyEncoder } from '../../../src/edge/pipeline/body/body-encoder.ts';
import type { ContentCoding } from '../../../src/http/exchange.ts';

const decode = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync };
const codings = Object.keys(decode) as ContentCoding[];

/** An encoder, and what it has told so far. */
function encoding(coding: ContentCoding) {
  const chunks: Buffer[] = [];
  let taken = 0;
  let isOver = false;
  const waiting: { until: () => boolean; resolve: () => void }[] = [];
  const look = () => {
    for (const { until, resolve } of waiting) if (until()) resolve();
  };
  const encoder = new BodyEncoder(coding, {
    onData(chunk) {
      chunks.push(chunk);
      look();
    },
    onEnd() {
      isOver = true;
      look();
    },
    onTaken(bytes) {
      taken += bytes;
      look();
    },
    onError() {
      throw new Error('it could not be compressed');
    },
  });
  const when = (until: () => boolean) =>
    until() ? Promise.resolve() : new Promise<void>((resolve) => waiting.push({ until, resolve }));
  return { encoder, when, taken: () => taken, isOver: () => isOver, out: () => Buffer.concat(chunks) };
}

/** What can be read of a body whose end has not come. */
function readable(coding: ContentCoding, bytes: Buffer): string {
  const sync = { finishFlush: constants.Z_SYNC_FLUSH };
  if (coding === 'br') return String(brotliDecompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH }));
  return String(coding === 'gzip' ? gunzipSync(bytes, sync) : inflateSync(bytes, sync));
}

test.each(codings)('%s: what was written comes out, all of it taken into account', async (coding) => {
  const { encoder, when, taken, isOver, out } = encoding(coding);
  const pieces = Array.from({ length: 200 }, (_, i) =>
    i % 3 ? Buffer.from(`line ${i}\n`.repeat(i)) : randomBytes(i * 50),
  );
  const all = Buffer.concat(pieces);
  for (const [i, piece] of pieces.entries()) {
    encoder.write(piece);
    if (i % 20 === 0) await new Promise(setImmediate);
  }
  encoder.end();
  await when(isOver);
  expect(decode[coding](out()).equals(all)).toBe(true);
  expect(taken()).toBe(all.length);
  expect(out().length).toBeLessThan(all.length);
});

test.each(codings)('%s: an event comes out whole while the stream goes on', async (coding) => {
  const { encoder, when, out, isOver } = encoding(coding);
  for (const event of ['data: one\n\n', 'data: two\n\n', 'data: three\n\n']) {
    const before = out().length;
    encoder.write(Buffer.from(event));
    await when(() => out().length > before && readable(coding, out()).endsWith(event));
  }
  expect(isOver()).toBe(false);
  encoder.destroy();
});

test.each(codings)('%s: an empty body has its frame and its end', async (coding) => {
  const { encoder, when, out, isOver } = encoding(coding);
  encoder.end();
  await when(isOver);
  expect(decode[coding](out()).length).toBe(0);
});

test('what is written together comes out together: one flush for all of it', async () => {
  const { encoder, when, out, taken } = encoding('gzip');
  for (let i = 0; i < 1000; i++) encoder.write(Buffer.from('x'));
  await when(() => taken() === 1000 && readable('gzip', out()).length === 1000);
  expect(out().length).toBeLessThan(100);
  encoder.destroy();
});

test('after it was given up, nothing is told any more', async () => {
  const told: string[] = [];
  const encoder = new BodyEncoder('gzip', {
    onData: () => told.push('data'),
    onEnd: () => told.push('end'),
    onTaken: () => told.push('taken'),
    onError: () => told.push('error'),
  });
  encoder.write(randomBytes(1_000_000));
  encoder.destroy();
  encoder.write(randomBytes(10));
  encoder.end();
  // Another one that began later is through.
  const other = encoding('gzip');
  other.encoder.write(randomBytes(1_000_000));
  other.encoder.end();
  await other.when(other.isOver);
  expect(told).toEqual([]);
});

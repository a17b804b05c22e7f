import { describe, expect, test } from 'vitest';
import { compression } from '../../../src/edge/modules/compression.ts';
import { compressResponse, negotiateCoding } from '../../../src/http/compression.ts';
import type { ContentCoding } from '../../../src/http/exchange.ts';
import { type ExchangeShape, exchangeOf } from '../exchange-support.ts';

const ALL: readonly ContentCoding[] = ['br', 'gzip', 'deflate'];
const PAGE = { 'Content-Type': 'text/html; charset=utf-8' };

/** An answer of 1,000 bytes to a visitor who takes gzip, behind the module. */
function compressed(shape: ExchangeShape = {}) {
  const exchange = exchangeOf({
    fields: { 'Accept-Encoding': 'gzip' },
    status: 200,
    answerFields: PAGE,
    answerLength: 1000,
    ...shape,
  });
  expect(compression().onResponse?.(exchange)).toBeUndefined();
  return { encoding: exchange.response?.encoding, fields: exchange.response?.fields };
}

describe('what a visitor accepts', () => {
  test.each([
    ['', undefined],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0.5, gzip;q=0.8, deflate;q=0.8', 'gzip'],
    ['GZip ; Q=1.000', 'gzip'],
    ['x-gzip', 'gzip'],
    ['*', 'br'],
    ['*;q=0.1, gzip;q=0.2', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0', undefined],
    ['identity', undefined],
    ['identity;q=1, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0.5, gzip;q=0.2, br;q=0.9', 'br'],
    ['zstd, compress', undefined],
    ['gzip;q=2', undefined],
    ['gzip;q=abc', undefined],
    [',, ;q=1,gzip', 'gzip'],
  ] as const)('%j: %s', (accept, coding) => {
    expect(negotiateCoding(accept, ALL)).toBe(coding);
  });

  test('what is liked alike is settled by the order of the codings that there are', () => {
    expect(negotiateCoding('gzip, deflate, br', ['deflate', 'gzip'])).toBe('deflate');
    expect(negotiateCoding('br', ['deflate', 'gzip'])).toBeUndefined();
  });
});

test('a compressed answer says so, and nothing that was true of the body before', () => {
  const { encoding, fields } = compressed({
    answerFields: {
      ...PAGE,
      'Content-Length': '1000',
      'Accept-Ranges': 'bytes',
      ETag: '"v1"',
      'Content-Digest': 'sha-256=:x:',
      Vary: 'Origin',
    },
  });
  expect(encoding).toBe('gzip');
  expect(fields?.list).toEqual([
    ['Content-Type', 'text/html; charset=utf-8'],
    ['Vary', 'Origin'],
    ['Vary', 'Accept-Encoding'],
    ['Content-Encoding', 'gzip'],
    ['ETag', 'W/"v1"'],
  ]);
});

test('a visitor who takes no coding gets the answer as it is, and caches are told that others may not', () => {
  const { encoding, fields } = compressed({ fields: {} });
  expect(encoding).toBeUndefined();
  expect(fields?.list).toEqual([...Object.entries(PAGE), ['Vary', 'Accept-Encoding']]);
});

test.each(['*', 'Accept, accept-encoding'])('Vary: %s says it already', (vary) => {
  expect(compressed({ answerFields: { ...PAGE, Vary: vary } }).fields?.all('vary')).toEqual([vary]);
});

test('a weak ETag stays as it is', () => {
  expect(compressed({ answerFields: { ETag: 'W/"v1"' } }).fields?.get('etag')).toBe('W/"v1"');
});

test.each([
  ['a HEAD', { method: 'HEAD' }],
  ['204', { status: 204 }],
  ['206', { status: 206 }],
  ['304', { status: 304 }],
  ['a part', { answerFields: { ...PAGE, 'Content-Range': 'bytes 0-9/10' } }],
  ['what has a coding', { answerFields: { ...PAGE, 'Content-Encoding': 'br' } }],
  ['what nobody may change', { answerFields: { ...PAGE, 'Cache-Control': 'public, No-Transform' } }],
  ['255 bytes', { answerLength: 255 }],
  ...[
    'image/png',
    'video/mp4',
    'audio/ogg',
    'font/woff2',
    'application/zip',
    'application/grpc+proto',
    'application/gzip',
    'application/pdf',
  ].map((type) => [type, { answerFields: { 'Content-Type': type } }] as const),
] satisfies (readonly [string, ExchangeShape])[])('not compressed: %s', (_, shape) => {
  const { encoding, fields } = compressed(shape);
  expect(encoding).toBeUndefined();
  expect(fields?.isChanged).toBe(false);
});

test.each([
  ['256 bytes', { answerLength: 256 }],
  ['a body of unknown length', { answerLength: undefined }],
  ['an error', { status: 500 }],
  ['no type', { answerFields: {} }],
  ['a coding that is none', { answerFields: { ...PAGE, 'Content-Encoding': 'identity' } }],
  ...['image/svg+xml', 'text/event-stream', 'application/json', 'application/wasm', 'application/octet-stream'].map(
    (type) => [type, { answerFields: { 'Content-Type': type } }] as const,
  ),
] satisfies (readonly [string, ExchangeShape])[])('compressed: %s', (_, shape) => {
  const { encoding, fields } = compressed(shape);
  expect(encoding).toBe('gzip');
  expect(fields?.all('content-encoding')).toEqual(['gzip']);
});

test('of two that compress, one does', () => {
  const exchange = exchangeOf({ fields: { 'Accept-Encoding': 'br, gzip' }, status: 200, answerFields: PAGE });
  expect(compressResponse(exchange, ['gzip'])).toEqual({ alreadyCompressed: false, coding: 'gzip' });
  expect(compressResponse(exchange, ['br'])).toEqual({ alreadyCompressed: true, coding: undefined });
  expect(exchange.response?.encoding).toBe('gzip');
});

// What others sent cannot look like something else in a log.

import { expect, test } from 'vitest';
import { openLog } from '../../src/monitoring/log.ts';

const HOSTILE = [
  '/a\n2026-01-01T00:00:00Z INFO  request path=/forged',
  '/\u001b[2J\u001b]0;title\u0007',
  '/\u009b31m',
  '/\u007f\b\r',
  '/safe\u202egnp.exe',
  '/\u2066\u2069\u200b\ufeff',
  '/\u2028\u2029\u0085',
];

function lineOf(logFormat: 'text' | 'json', path: string, err?: object): string {
  const lines: string[] = [];
  openLog({ logLevel: 'info', logFormat }, (line) => lines.push(line)).info({ path, err }, 'request');
  return lines.join('');
}

test.each(HOSTILE)('in a text log %j is one line of plain characters', (path) => {
  const line = lineOf('text', path);
  expect(line).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+\n$/u);
});

test.each(HOSTILE)('in a JSON log %j is one line of plain characters, which says it in full', (path) => {
  const line = lineOf('json', path);
  expect(line).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+\n$/u);
  expect(JSON.parse(line).path).toBe(path);
});

test('values with blanks, quotes or = cannot be taken for more members', () => {
  expect(lineOf('text', '/a status=200')).toContain('path="/a status=200"');
  expect(lineOf('text', '/a"b')).toContain('path="/a\\"b"');
  expect(lineOf('text', '/plain/path')).toContain(' path=/plain/path');
});

test('the lines of a stack are indented, so that none looks like an entry', () => {
  const stack = 'Error: no\n2026-01-01T00:00:00Z INFO  forged\n    at here\u001b[2J';
  const [, ...below] = lineOf('text', '/', { stack }).trimEnd().split('\n');
  expect(below).toHaveLength(3);
  for (const line of below) expect(line).toMatch(/^ {4}[^\p{Cc}]+$/u);
});

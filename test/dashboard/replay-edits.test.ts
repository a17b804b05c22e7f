// The form that edits a captured request sends only what differs from it.

import { expect, test } from 'vitest';
import { decodeBase64, hexDump } from '../../src/dashboard/screens/traffic/bytes.ts';
import {
  initialEdits,
  type ReplayEdits,
  replayInput,
  validateHeader,
} from '../../src/dashboard/screens/traffic/replay-edits.ts';

type Request = Parameters<typeof initialEdits>[0];

const request = {
  method: 'POST',
  path: '/orders?id=7',
  requestHeaders: [
    { name: 'Host', value: 'shop.example.com', isRedacted: false },
    { name: 'Content-Type', value: 'text/plain', isRedacted: false },
    { name: 'Authorization', value: '', isRedacted: true },
    { name: 'Content-Length', value: '3', isRedacted: false },
    { name: 'X-Forwarded-For', value: '192.0.2.1', isRedacted: false },
  ],
  requestBody: { bytes: 3, keptBytes: 3, isWhole: true, text: 'tea' },
} as unknown as Request; // The rest of it does not matter here.

function sent(some: Partial<ReplayEdits>, of = request) {
  return replayInput(of, { ...initialEdits(of), ...some });
}

test('hop-by-hop and generated header fields cannot be edited', () => {
  expect(initialEdits(request).headers).toEqual(['Content-Type: text/plain', 'Authorization: (as captured)']);
});

test('unchanged parts are not sent', () => {
  expect(sent({})).toEqual({});
});

test('an unchanged redacted value is replayed as it was captured', () => {
  const { headers } = sent({ headers: ['Content-Type: text/html', 'Authorization: (as captured)', ''] });
  expect(headers).toEqual([
    { name: 'Content-Type', value: 'text/html' },
    { name: 'Authorization', value: null },
  ]);
});

test('a header value may contain colons, and is trimmed', () => {
  expect(sent({ headers: ['x-time:  12:30:00 '] }).headers).toEqual([{ name: 'x-time', value: '12:30:00' }]);
});

test('an edited body is sent in UTF-8, also an empty one', () => {
  expect(sent({ keepsBody: false, body: 'thé' }).bodyBase64).toBe(Buffer.from('thé').toString('base64'));
  expect(sent({ keepsBody: false, body: '' }).bodyBase64).toBe('');
});

test('an edited compressed body is sent without Content-Encoding', () => {
  const compressed = {
    ...request,
    requestHeaders: [...request.requestHeaders, { name: 'Content-Encoding', value: 'gzip', isRedacted: false }],
  };
  const names = (some: Partial<ReplayEdits>) => sent(some, compressed).headers?.map(({ name }) => name);
  expect(names({ keepsBody: false, body: 'tea' })).toEqual(['Content-Type', 'Authorization']);
  expect(names({ path: '/other' })).toBeUndefined();
});

test('a truncated body is replaced by the text in the form', () => {
  const cut = { ...request, requestBody: { ...request.requestBody, bytes: 9, isWhole: false } };
  expect(initialEdits(cut).keepsBody).toBe(false);
  expect(sent({}, cut).bodyBase64).toBe(Buffer.from('tea').toString('base64'));
});

test.each([
  ['x-trace: 1', null],
  ['accept:', null],
  ['no colon', 'A header is written as name: value.'],
  ['two words: 1', 'A header is written as name: value.'],
  ['Host: other', 'Host is made anew for each request; leave it out.'],
])('the error for the header “%s” is: %s', (line, said) => {
  expect(validateHeader(line)).toBe(said);
});

test('binary bodies are shown as a hex dump, up to a limit', () => {
  const bytes = decodeBase64(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255, 0x41, 0x42]).toString('base64'));
  expect(hexDump(bytes, 256)).toBe('0000  89 50 4e 47 00 01 02 ff  .PNG....\n0008  41 42                    AB');
  expect(hexDump(bytes, 2)).toBe('0000  89 50                    .P');
});

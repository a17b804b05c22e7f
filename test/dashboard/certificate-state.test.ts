// What the dashboard makes of the states of certificates and of the errors that the gateway has for them.

import { expect, test } from 'vitest';
import { ERRORS } from '../../src/acme/jobs/failures.ts';
import { isEndangered, markOf, reasonOf, stepsOf } from '../../src/dashboard/screens/domains/provisioning/state.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const DAY = 86_400_000;
const at = (days: number | null) => (days === null ? null : new Date(NOW + days * DAY).toISOString());

const codeOf = (error: keyof typeof ERRORS) => `ERR_GATEWAY_${ERRORS[error]}`;
const progressOf = (certificate: Parameters<typeof stepsOf>[0]) =>
  stepsOf(certificate)
    .map(({ progress }) => progress)
    .join(' ');

test.each([
  ['WAITING_DNS', 'current next next next next next'],
  ['PREFLIGHT', 'done current next next next next'],
  ['ORDERING', 'done done current next next next'],
  ['VALIDATING', 'done done done current next next'],
  ['FINALIZING', 'done done done done current next'],
  ['ISSUED', 'done done done done done done'],
] as const)('%s is shown in its place', (state, expected) => {
  expect(progressOf({ state, errorCode: null })).toBe(expected);
});

test('the steps are named in the order in which the gateway takes them', () => {
  expect(stepsOf({ state: 'PREFLIGHT', errorCode: null }).map(({ title }) => title)).toEqual([
    'Waiting for DNS',
    'Checks',
    'Ordering',
    'Validation',
    'Issuing',
    'In force',
  ]);
});

test.each([
  ['challengeCnameMissing', 'failed next next next next next'],
  ['caaForbids', 'done failed next next next next'],
  ['http01Unreachable', 'done failed next next next next'],
  ['ownLimit', 'done done failed next next next'],
  ['rejectedIdentifier', 'done done failed next next next'],
  ['connection', 'done done done failed next next'],
  ['finalization', 'done done done done failed next'],
] as const)('a certificate that failed with %s is shown where it failed', (error, expected) => {
  for (const state of ['FAILED_RETRYING', 'PAUSED'] as const)
    expect(progressOf({ state, errorCode: codeOf(error) })).toBe(expected);
});

test.each(['authorityUnreachable', 'unexpected', 'dns', 'http01Mismatch'] as const)(
  '%s, in which several steps may end, is shown at none of them',
  (error) => {
    expect(progressOf({ state: 'FAILED_RETRYING', errorCode: codeOf(error) })).toBe('next next next next next next');
  },
);

test.each([
  ['ISSUED', 60, true, 'good', 'in force'],
  ['ISSUED', -1, true, 'bad', 'expired'],
  ['WAITING_DNS', null, true, 'warn', 'waits for DNS'],
  ['PREFLIGHT', null, true, 'plain', 'being obtained'],
  ['VALIDATING', 20, true, 'plain', 'being renewed'],
  ['FAILED_RETRYING', null, true, 'bad', 'failed'],
  ['FAILED_RETRYING', 20, true, 'bad', 'renewal failed'],
  ['FAILED_RETRYING', -1, true, 'bad', 'expired'],
  ['PAUSED', null, true, 'bad', 'needs a person'],
  ['WAITING_DNS', null, false, 'plain', 'not obtained'],
  ['FAILED_RETRYING', 20, false, 'plain', 'not renewed'],
] as const)(
  '%s with a certificate for %s days is marked (certificates on: %s): %s, %s',
  (state, days, isOn, ...mark) => {
    const [variant, word] = mark;
    expect(markOf({ state, notAfter: at(days) }, isOn, NOW)).toEqual({ variant, word });
  },
);

test.each([
  ['FAILED_RETRYING', null, null, true],
  ['PAUSED', null, null, true],
  ['WAITING_DNS', null, null, false],
  ['FAILED_RETRYING', 14, -16, true],
  ['FAILED_RETRYING', 14.1, -16, false],
  ['PAUSED', 3, -27, true],
  ['WAITING_DNS', 3, -27, true],
  ['VALIDATING', 3, -27, false],
  ['ISSUED', 3, 1, false],
  ['ISSUED', 3, -0.9, false],
  ['ISSUED', 3, -1, true],
] as const)(
  '%s with a certificate for %s days, to be renewed in %s: a warning is %s',
  (state, days, renewal, expected) => {
    expect(isEndangered({ state, notAfter: at(days), renewsAt: at(renewal) }, NOW)).toBe(expected);
  },
);

test.each([
  [null, 'nobody renews it'],
  ['PAUSED', 'renewing it needs a person'],
  ['FAILED_RETRYING', 'renewing it fails'],
  ['WAITING_DNS', 'renewing it waits for the DNS'],
  ['ISSUED', 'its renewal is overdue'],
] as const)('a warning of a certificate in the state %s says: %s', (state, reason) => {
  expect(reasonOf(state)).toBe(reason);
});

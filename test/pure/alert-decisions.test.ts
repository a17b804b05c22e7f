// What follows from what was found for an alert rule, at moments that tests with a gateway do not come upon.

import { expect, test } from 'vitest';
import { decide, GROUP_WAIT_MS, type OpenAlert, type RuleState } from '../../src/alerts/decide.ts';
import { type Finding, NOTHING } from '../../src/alerts/finding.ts';

const AT = 1_800_000_000_000;

const rule: RuleState = {
  ...{ id: 'alr_1', accountId: 'ac_1', name: 'rule', condition: 'ENDPOINT_OFFLINE', severity: 'WARNING', threshold: 0 },
  ...{ forSeconds: 60, resolveSeconds: 60, updateMinutes: 30, isEnabled: true, isSilenced: false, pendingSince: null },
  alert: null,
};
const alert: OpenAlert = {
  ...{ id: 'al_1', state: 'FIRING', firedAt: AT, subjectIds: ['oep_1'], subjectCount: 1, value: 0 },
  ...{ clearSince: null, notifiedAt: null, notifiedCount: 0 },
};
const found = (count: number): Finding => ({
  ...{ count, silenced: 0, value: 0, since: AT - 90_000 },
  subjects: [{ id: 'oep_1', name: 'http://a', since: '2027-01-15T08:00:00Z', detail: '' }],
});
const decideFor = (more: Partial<OpenAlert>, finding: Finding, at: number, ofRule: Partial<RuleState> = {}) =>
  decide({ ...rule, ...ofRule, alert: { ...alert, ...more } }, finding, at);

test('an alert is since the first of its subjects, and nobody is told in the moment in which it fires', () => {
  expect(decide(rule, found(3), AT)).toEqual({ fire: { since: AT - 90_000 } });
  expect(decide(rule, NOTHING, AT)).toBeUndefined();
});

test('it is told when the number stands still, and after the group wait at the latest', () => {
  expect(decideFor({ subjectCount: 3 }, found(3), AT + 5000)).toEqual({ notify: 'FIRED' });
  expect(decideFor({}, found(50), AT + 5000)).toEqual({ refresh: true });
  expect(decideFor({}, found(90), AT + GROUP_WAIT_MS)).toEqual({ refresh: true, notify: 'FIRED' });
});

test('a condition of a rule as a whole has to hold all the time', () => {
  const share = { condition: 'OFFLINE_SHARE', threshold: 0.5 } as const;
  const half = { ...found(6), value: 0.6 };
  expect(decide({ ...rule, ...share }, half, AT)).toEqual({ pendingSince: AT });
  const pending = { ...rule, ...share, pendingSince: AT };
  expect(decide(pending, half, AT + 59_999)).toBeUndefined();
  expect(decide(pending, { ...half, value: 0.5 }, AT + 59_999)).toEqual({ pendingSince: null });
  expect(decide(pending, half, AT + 60_000)).toEqual({ fire: { since: AT }, pendingSince: AT });
});

test('what flaps is not resolved', () => {
  const told = { notifiedAt: AT, notifiedCount: 1 };
  expect(decideFor(told, NOTHING, AT)).toEqual({ clearSince: AT });
  expect(decideFor({ ...told, clearSince: AT }, NOTHING, AT + 59_999)).toBeUndefined();
  expect(decideFor({ ...told, clearSince: AT }, found(1), AT + 59_999)).toEqual({ clearSince: null });
  const resolved = { pendingSince: null, resolve: { remark: '' }, notify: 'RESOLVED' };
  expect(decideFor({ ...told, clearSince: AT }, NOTHING, AT + 60_000)).toEqual(resolved);
});

test('the end of what was never told is not told either', () => {
  expect(decideFor({ clearSince: AT }, NOTHING, AT + 60_000)).toEqual({ pendingSince: null, resolve: { remark: '' } });
});

test('a rule that is switched off ends its alert at once', () => {
  const told = { notifiedAt: AT, notifiedCount: 1 };
  const remark = 'The rule was switched off.';
  expect(decideFor(told, NOTHING, AT, { isEnabled: false })).toMatchObject({ resolve: { remark }, notify: 'RESOLVED' });
});

test('a backlog that changes a little is no write', () => {
  const backlog = { condition: 'BACKLOG', threshold: 10 } as const;
  const told = { notifiedAt: AT, notifiedCount: 1, value: 1000 };
  expect(decideFor(told, { ...found(1), value: 1050 }, AT, backlog)).toBeUndefined();
  expect(decideFor(told, { ...found(1), value: 1200 }, AT, backlog)).toEqual({ refresh: true });
});

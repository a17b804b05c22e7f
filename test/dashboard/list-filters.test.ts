// The filter of a list as chips and as text, and its place in the URL.

import { describe, expect, test } from 'vitest';
import {
  directionOf,
  listQuery,
  listVariables,
  nextOrder,
  readListState,
} from '../../src/dashboard/data/routing/list-state.ts';
import { type Member, type MemberType, operators, operatorsOf } from '../../src/dashboard/ui/list/filter/operators.ts';
import { readTerms, type Term, withCondition, writeTerms } from '../../src/dashboard/ui/list/filter/terms.ts';
import { memberTitle, termTitle } from '../../src/dashboard/ui/list/filter/words.ts';

const member = (name: string, type: MemberType, more: Partial<Member> = {}): Member => ({
  ...{ name, type, isOrdered: false, isNullable: false, choices: [] },
  ...more,
});
const members = [
  member('description', 'TEXT'),
  member('owner_id', 'ID'),
  member('created_at', 'TIMESTAMP'),
  member('credential.id', 'ID', { isNullable: true }),
  member('enabled', 'BOOLEAN'),
  member('requests', 'NUMBER'),
  member('state', 'CHOICE', { choices: ['FIRING', 'RESOLVED'] }),
  member('acl', 'TEXTS'),
  member('labels', 'LABELS'),
];
const titles = (filter: string) => readTerms(filter, members).map((term) => termTitle(term, members));
const isComparison = (term: Term) => !('expression' in term);

describe('a filter', () => {
  test('of every member and operator is read back as it was written', () => {
    const values = {
      text: 'a "b" \\ && c',
      choice: 'FIRING',
      boolean: 'true',
      number: '100',
      span: '7d',
      time: '2026-11-25T20:00:00Z',
      none: '',
    };
    const terms = members.flatMap((one) =>
      operatorsOf(one).map((operator) => ({
        ...{ member: one.name, operator, value: values[operator.value] },
        key: operator.hasKey ? 'si"te' : '',
      })),
    );
    expect(new Set(terms.map(({ operator }) => operator))).toEqual(new Set(operators));
    expect(readTerms(writeTerms(terms), members)).toEqual(terms);
  });

  test('that somebody wrote with other spaces is chips all the same', () => {
    expect(titles('obj.description.contains("gate")&&obj.state=="FIRING"  &&  "x" in obj.acl')).toEqual([
      'Description contains gate',
      'State is firing',
      'ACL has x',
    ]);
  });

  test.each([
    'obj.description == "a" || obj.description == "b"',
    'obj.description.matches("a")',
    'obj.state == "OTHER"',
    'obj.nothing == "a"',
    'obj.description == "a" &&',
    'obj.description == "unclosed',
    '(obj.enabled == true',
  ])('that no chip can show stays as it is: %s', (filter) => {
    const terms = readTerms(filter, members);
    expect(terms.some(isComparison)).toBe(false);
    expect(writeTerms(terms)).toBe(filter);
  });

  test('keeps what chips cannot show beside what they can, and each condition means the same', () => {
    const [first, second] = readTerms('obj.enabled == true && (obj.owner_id == "a" || obj.owner_id == "b")', members);
    expect(first && isComparison(first)).toBe(true);
    expect(second).toEqual({ expression: '(obj.owner_id == "a" || obj.owner_id == "b")' });
    expect(withCondition('obj.owner_id == "a" || obj.owner_id == "b"', 'obj.enabled == true')).toBe(
      '(obj.owner_id == "a" || obj.owner_id == "b") && obj.enabled == true',
    );
    expect(withCondition('obj.owner_id == "a" && obj.enabled == true', 'obj.enabled == false')).toBe(
      'obj.owner_id == "a" && obj.enabled == false',
    );
  });

  test('says in words what it leaves', () => {
    expect(titles('(obj.created_at >= now().subtract("24h") && obj.created_at <= now())')).toEqual([
      'Created in the last 24 hours',
    ]);
    expect(titles('obj.labels["site"] == "berlin" && "rack" in obj.labels && !has(obj.credential.id)')).toEqual([
      'Label site is berlin',
      'Label rack is there',
      'Credential is not set',
    ]);
    expect(['created_at', 'owner_id', 'public_url', 'subject_alternative_names.ips'].map(memberTitle)).toEqual([
      'Created',
      'Owner',
      'Public URL',
      'Subject alternative names IPs',
    ]);
  });
});

describe('the state of a list', () => {
  test('comes back from the URL that it wrote, beside parameters of others', () => {
    const state = { filter: 'obj.a == "ä&b"', search: '12 gate', order: 'created_at desc', hide: 'owner,created' };
    const query = Object.fromEntries(new URLSearchParams(listQuery({ state: 'online', filter: 'old' }, state)));
    expect(readListState(query)).toEqual(state);
    expect(query.state).toBe('online');
    expect(listQuery(query, { filter: '', search: '', order: '', hide: '', state: '' })).toBe('');
  });

  test('gives the API only what narrows or orders', () => {
    expect(listVariables(readListState({}))).toEqual({});
    expect(listVariables(readListState({ search: '  ', order: 'name asc', hide: 'x' }))).toEqual({
      orderBy: 'name asc',
    });
  });

  test('is ordered upwards, downwards and by default, click after click', () => {
    const orders = ['', 'name asc', 'name desc'];
    expect(orders.map((order) => nextOrder(order, 'name'))).toEqual(['name asc', 'name desc', '']);
    expect(nextOrder('created_at desc', 'name')).toBe('name asc');
    expect(orders.map((order) => directionOf(order, 'name'))).toEqual([undefined, 'ascending', 'descending']);
  });
});

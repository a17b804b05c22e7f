// The codes of problems: whatever can be told of as a problem has one, and the schema has all of them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isEnumType } from 'graphql';
import { expect, test } from 'vitest';
import type { ErrorRow } from '../../../src/api/errors/error-row.ts';
import { errorTable } from '../../../src/api/errors/error-table.ts';
import { canBlameMember } from '../../../src/api/errors/errors.ts';
import { problemCodes } from '../../../src/api/errors/problem-codes.ts';
import { schema } from '../../../src/api/schema.ts';
import { root } from '../../support/root.ts';

const rows: Record<string, ErrorRow> = errorTable;

test('the schema has the code of each error that can blame a member, and no two errors share one', () => {
  const type = schema.getType('ProblemCode');
  const codes = isEnumType(type) ? type.getValues().map(({ name }) => name) : [];
  expect(codes).toEqual(problemCodes.map(({ code }) => code));
  expect(codes).toHaveLength(Object.values(rows).filter(canBlameMember).length);
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes).toContain('BAD_ACL_RULE');
});

test('every error that is thrown with a member to blame has a code', () => {
  const folder = join(root, 'src/api');
  const thrown = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(join(folder, file), 'utf8').matchAll(/ApiError\(\s*'(\w+)',\s*\{([^;]*?)\}\)/g),
    ])
    .filter(([, , parameters = '']) => /\b(member|place|at)\b/.test(parameters))
    .map(([, name = '']) => name);
  expect(thrown.length).toBeGreaterThan(100);
  expect(thrown.filter((name) => !rows[name] || !canBlameMember(rows[name]))).toEqual([]);
});

// The rows of the REST surface fit the schema. The gateway reads a row's operation when somebody first asks for it: what is
// wrong with one shows here.

import { expect, test } from 'vitest';
import { prepareRow } from '../../src/api/rest/rows.ts';
import { routes, schema } from '../../src/api/schema.ts';

test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
  expect(prepareRow(schema, route).operation().definition.kind).toBe('OperationDefinition');
});

test('a row whose selection does not fit the schema is refused by its name', () => {
  const [route] = routes.filter(({ method }) => method === 'GET');
  if (!route) throw new Error('there is no row');
  const row = prepareRow(schema, { ...route, selection: 'nothingLikeIt' });
  expect(() => row.operation()).toThrow(`${route.method} ${route.path}: `);
});

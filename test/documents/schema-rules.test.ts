// The schema keeps the rules of Relay and the usual names, but where a reason stands here.

import { buildSchema, validateSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/api/schema.ts';
import { schemaRules } from './schema-rules.ts';

/** The best few of a ranking or a search, which has no order that pages could follow. */
const RANKED = ['Query.endpointsByTraffic', 'Query.failingEndpoints', 'Query.search'];
/** All that is kept: the last fifty. */
const KEPT = ['Agent.pastSessions'];
const exceptions: Record<string, string[]> = {
  'what takes a number of objects gives a connection': [...RANKED, ...KEPT],
  // The order that a certificate authority was given, and a module of that name.
  'what is sent ends in Input, Where, Order or Filter, and nothing else does': ['CertificateOrder', 'UserAgentFilter'],
};

test('graphql-js finds the schema right', () => {
  expect(validateSchema(schema)).toEqual([]);
});

test.each(Object.entries(schemaRules))('%s', (name, rule) => {
  expect(rule(schema).sort()).toEqual((exceptions[name] ?? []).toSorted());
});

describe('what breaks a rule is named', () => {
  const broken = buildSchema(
    `type Query { node(key: ID!): Node, rows(first: Int): RowConnection, some(first: Int): [Row] }
     type Mutation { make(row: MakeInput, input: Int): Row! }
     interface Node { id: String }
     type Row { id: ID, a_field: Int, in(Arg: Int): kind }
     type RowConnection { edges: [RowEdge], pageInfo: PageInfo }
     type RowEdge { cursor: Int, node: Row }
     type PageInfo { hasNextPage: Boolean }
     type RowFilter { id: ID! }
     input MakeInput { a: Int }
     input Made { b: Int }
     enum kind { small }`,
    { assumeValid: true },
  );
  const expected: Record<keyof typeof schemaRules, string[]> = {
    'a connection has edges and where its page lies': ['RowConnection'],
    'an edge of a connection has a cursor and an object, and the nodes beside it are the same objects': [
      'RowConnection',
    ],
    'PageInfo is as Relay has it': ['PageInfo'],
    'a field that gives a connection pages both ways': ['Query.rows'],
    'what takes a number of objects gives a connection': ['Query.some'],
    '`node` finds what is a Node, by the id that it has': ['node'],
    'an id is an ID, and there wherever its type is': ['Node.id', 'Row.id'],
    'a mutation takes an object of members as its `input`': ['make'],
    'types have names in PascalCase': ['kind'],
    'fields, arguments and members have names in camelCase': ['Row.Arg', 'Row.a_field'],
    'values of enums are in capitals': ['kind'],
    'what is sent ends in Input, Where, Order or Filter, and nothing else does': ['Made', 'RowFilter'],
  };

  test.each(Object.entries(schemaRules))('%s', (name, rule) => {
    expect(rule(broken).sort()).toEqual(expected[name]);
  });
});

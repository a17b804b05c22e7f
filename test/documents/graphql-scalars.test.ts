// What the page for client authors tells code generators of the scalars.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { isScalarType, isSpecifiedScalarType, parse } from 'graphql';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { schema } from '../../src/api/schema.ts';
import { root } from '../support/root.ts';

const page = readFileSync(join(root, 'src/manual/clients.md'), 'utf8');
const [, block = ''] = /```yaml\n(config:\n {2}strictScalars[\s\S]*?)```/.exec(page) ?? [];

test('names each scalar of the schema, and graphql-codegen makes those types of them', async () => {
  const { config } = parseYaml(block);
  const own = Object.values(schema.getTypeMap()).filter((type) => isScalarType(type) && !isSpecifiedScalarType(type));
  expect(Object.keys(config.scalars).sort()).toEqual(own.map(({ name }) => name).sort());
  const types = await codegen({
    filename: 'types.ts',
    schema: parse(readFileSync(join(root, 'schema.graphql'), 'utf8')),
    documents: [{ document: parse('query Q { credentials { nodes { createdAt } } tunnels { nodes { labels } } }') }],
    plugins: [{ typescriptOperations: {} }],
    pluginMap: { typescriptOperations },
    config,
  });
  expect(types).toMatch(/createdAt: string\b/);
  expect(types).toMatch(/labels: Record<string, string>/);
});

test('all of them say which specification describes them', () => {
  const specified = Object.values(schema.getTypeMap()).flatMap((type) =>
    isScalarType(type) && !isSpecifiedScalarType(type) ? [[type.name, type.specifiedByURL]] : [],
  );
  expect(Object.fromEntries(specified)).toEqual({
    Json: 'https://www.rfc-editor.org/rfc/rfc8259',
    Labels: 'https://www.rfc-editor.org/rfc/rfc8259#section-4',
    Timestamp: 'https://www.rfc-editor.org/rfc/rfc3339',
    UInt32: 'https://www.w3.org/TR/xmlschema-2/#unsignedInt',
    Weights: 'https://www.rfc-editor.org/rfc/rfc8259#section-4',
  });
});

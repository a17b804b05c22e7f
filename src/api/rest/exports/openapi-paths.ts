// The downloads of lists in OpenAPI.

import { exportParameters } from './export-query.ts';
import type { ExportedList } from './exported-lists.ts';

/** By path. */
export function exportPaths(exports: readonly ExportedList[]): Record<string, { get: object }> {
  return Object.fromEntries(exports.map(({ path, list }) => [path, { get: operationOf(list.plural) }]));
}

function operationOf(list: string): object {
  const schema = { type: 'string' };
  const parameters = Object.entries(exportParameters).map(([name, description]) => {
    return { name, in: 'query', required: false, description, schema };
  });
  const error = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  const responses = {
    200: { description: 'The list.', content: { 'text/csv': { schema }, 'application/jsonl': { schema } } },
    default: { description: 'An error.', content: error },
  };
  return { operationId: `${list}Export`, description: `Downloads the list \`${list}\`.`, parameters, responses };
}

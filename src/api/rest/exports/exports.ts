// The downloads of lists: what answers to them, and what OpenAPI says of them.

import type { GraphQLSchema } from 'graphql';
import type { Admit } from '../../http/admission.ts';
import type { Route } from '../../route.ts';
import { prepareExports } from './exported-lists.ts';
import { exportPaths } from './openapi-paths.ts';
import { exportHandlers } from './serve-export.ts';

export function createExports(schema: GraphQLSchema, routes: readonly Route[], admit: Admit) {
  const lists = prepareExports(schema, routes);
  return { handlers: exportHandlers(lists, admit), openApiPaths: exportPaths(lists) };
}

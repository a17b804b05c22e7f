import type { GraphQLSchema } from 'graphql';
import type { Row } from './rest.ts';

export function openApiOf(_schema: GraphQLSchema, _rows: Row[]): (baseUrl: string) => object {
  return () => ({});
}

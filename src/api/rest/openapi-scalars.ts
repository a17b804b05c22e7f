// The scalars of the schema in `/openapi.json`.

/** The JSON Schema of a scalar; that of a text for `String`, `ID` and what is unknown. */
export function scalarSchema(name: string): Record<string, unknown> {
  switch (name) {
    case 'Boolean':
      return { type: 'boolean' };
    case 'Int':
      return { type: 'integer' };
    case 'Float':
      return { type: 'number' };
    case 'UInt32':
      return { type: 'integer', minimum: 0, maximum: 4_294_967_295 };
    case 'Timestamp':
      return { type: 'string', format: 'date-time', pattern: 'Z$' };
    case 'Json':
      return {};
    case 'Labels':
      return { type: 'object', additionalProperties: { type: 'string' } };
    case 'Weights':
      return { type: 'object', additionalProperties: { type: 'integer' } };
    default:
      return { type: 'string' };
  }
}

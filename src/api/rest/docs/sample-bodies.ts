// Bodies for the requests that `/docs` shows: what an operation requires, with values that fit its members.

type Json = Record<string, unknown>;

/** A schema as `openapi.ts` makes it. */
interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  type?: string;
  enum?: unknown[];
  const?: unknown;
  required?: string[];
  properties?: Record<string, Schema>;
}

/** By the names of members; other texts are `…`. */
const VALUES: Readonly<Json> = {
  address: 'http://127.0.0.1:3000',
  action: 'allow',
  cidr: '203.0.113.0/24',
  description: 'made by the example',
  domain: 'shop.example.com',
  issuer: 'https://id.example.com',
  labels: { site: 'berlin' },
  match: '/',
  name: 'example',
  url: 'https://shop.example.com',
};

/** The least that a schema takes; something to see, where that is nothing. @param schemas those that `$ref` names. */
export function sampleBody(schema: object, schemas: Json): unknown {
  const value = exampleOf(schema as Schema, '', schemas);
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  const { properties } = resolved(schema as Schema, schemas);
  return isEmpty && properties?.description ? { description: VALUES.description } : value;
}

function exampleOf(schema: Schema, name: string, schemas: Json): unknown {
  const { type, required = [], properties = {}, ...one } = resolved(schema, schemas);
  if (one.const !== undefined) return one.const;
  if (name in VALUES) return VALUES[name];
  if (one.enum) return one.enum[0];
  if (type === 'array') return [];
  if (type === 'object' || required.length > 0)
    return Object.fromEntries(required.map((member) => [member, exampleOf(properties[member] ?? {}, member, schemas)]));
  if (type === 'boolean') return true;
  return type === 'integer' || type === 'number' ? 1 : '…';
}

/** A schema without what wraps it: a reference, or that it may be null. */
function resolved(schema: Schema, schemas: Json): Schema {
  const { $ref, anyOf } = schema;
  if ($ref) return resolved((schemas[$ref.replace('#/components/schemas/', '')] ?? {}) as Schema, schemas);
  return anyOf?.[0] ? resolved(anyOf[0], schemas) : schema;
}

// GraphQL tells times to the millisecond and has the values of enums in capitals; REST, events and downloads have seconds and words in
// lower case, as the specification does. All run the same operations on the same schema: this is where the answers become those of the
// latter.

import {
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { restEnumOf, restWord } from '../rest-words.ts';

/** What becomes of a text. */
type Rewrite = (text: string) => string;
/** Members of an answer by their names there: what becomes of each, or of what is in it. */
type Rewrites = Map<string, Rewrites | Rewrite>;

/**
 * @param document that is valid, with one operation and no fragments of its own.
 * @returns what makes of an answer to it what REST has, in place.
 */
export function restValues(schema: GraphQLSchema, document: DocumentNode): (data: unknown) => void {
  const all: Rewrites = new Map();
  const path: Rewrites[] = [all];
  const info = new TypeInfo(schema);
  const within = visitWithTypeInfo(info, {
    Field: {
      enter({ name, alias = name }) {
        const known = path.at(-1)?.get(alias.value);
        const inner: Rewrites = known instanceof Map ? known : new Map();
        path.at(-1)?.set(alias.value, rewriteOf(getNamedType(info.getType())) ?? inner);
        path.push(inner);
      },
      leave: () => void path.pop(),
    },
  });
  visit(document, within);
  return isNeeded(all) ? (data) => rewriteIn(data, all) : () => {};
}

function rewriteOf(type: GraphQLNamedType | undefined): Rewrite | undefined {
  if (type?.name === 'Timestamp') return secondOf;
  return isEnumType(type) && restEnumOf(type) ? (name) => restWord(type, name) : undefined;
}

/** Of a time as the scalar writes it. */
function secondOf(time: string): string {
  return `${time.slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`;
}

/** Takes out where nothing is to be done, so that nobody looks there. */
function isNeeded(rewrites: Rewrites): boolean {
  for (const [name, inner] of rewrites) if (inner instanceof Map && !isNeeded(inner)) rewrites.delete(name);
  return rewrites.size > 0;
}

function rewriteIn(value: unknown, rewrites: Rewrites): void {
  if (Array.isArray(value)) for (const one of value) rewriteIn(one, rewrites);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const row = value as Record<string, unknown>;
  for (const [name, inner] of rewrites) {
    if (inner instanceof Map) rewriteIn(row[name], inner);
    else if (row[name] !== undefined) row[name] = rewritten(row[name], inner);
  }
}

/** Of a text, of a list of such, or null. */
function rewritten(value: unknown, rewrite: Rewrite): unknown {
  if (typeof value === 'string') return rewrite(value);
  return Array.isArray(value) ? value.map((one) => rewritten(one, rewrite)) : value;
}

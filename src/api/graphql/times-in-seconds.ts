// Times are told to the millisecond in GraphQL, and to the second in REST, in events and in downloads, as the specification has them. All
// run the same operations on the same schema: this is where the answers become those of the latter.

import { type DocumentNode, type GraphQLSchema, getNamedType, TypeInfo, visit, visitWithTypeInfo } from 'graphql';

/** Members of an answer by their names there: `true` where they are times, or what is in them. */
type Times = Map<string, Times | true>;

/**
 * @param document that is valid, with one operation and no fragments of its own.
 * @returns what takes the milliseconds from all times of an answer to it, in place.
 */
export function timesInSeconds(schema: GraphQLSchema, document: DocumentNode): (data: unknown) => void {
  const all: Times = new Map();
  const path: Times[] = [all];
  const info = new TypeInfo(schema);
  const within = visitWithTypeInfo(info, {
    Field: {
      enter({ name, alias = name }) {
        const inner = path.at(-1)?.get(alias.value);
        const isTime = getNamedType(info.getType())?.name === 'Timestamp';
        const times = inner instanceof Map ? inner : new Map();
        path.at(-1)?.set(alias.value, isTime || times);
        path.push(times);
      },
      leave: () => void path.pop(),
    },
  });
  visit(document, within);
  return hasTimes(all) ? (data) => shorten(data, all) : () => {};
}

/** Takes out what has no times, so that nobody looks there. */
function hasTimes(times: Times): boolean {
  for (const [name, inner] of times) if (inner !== true && !hasTimes(inner)) times.delete(name);
  return times.size > 0;
}

function shorten(value: unknown, times: Times): void {
  if (Array.isArray(value)) for (const one of value) shorten(one, times);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const row = value as Record<string, unknown>;
  for (const [name, inner] of times) {
    if (inner !== true) shorten(row[name], inner);
    else if (row[name] !== undefined) row[name] = secondOf(row[name]);
  }
}

/** Of a time as the scalar writes it, of a list of such, or null. */
function secondOf(time: unknown): unknown {
  if (typeof time === 'string') return `${time.slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`;
  return Array.isArray(time) ? time.map(secondOf) : time;
}

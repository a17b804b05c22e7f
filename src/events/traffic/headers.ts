// Header fields as traffic events have them: names in lower case, each with the list of its values, and no secrets.

import { jsonString } from './json-string.ts';

export type HeaderFields = readonly (readonly [name: string, value: string])[];

/** That there are such fields is told, and not what is in them. */
const SECRET = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie']);
const HIDDEN = '***';

/** How many names are kept ready, and how long they may be: visitors make them up. */
const NAMES_MAX = 1000;
const NAME_LENGTH_MAX = 64;

interface Name {
  /** `"user-agent":[` */
  opening: string;
  isSecret: boolean;
  /** In which list of fields it was met last. */
  metIn: number;
}

/** By how they were written, and by how they are in lower case: several spellings are one name. */
const names = new Map<string, Name>();
let lists = 0;

/** In JSON. */
export function writeHeaders(fields: HeaderFields): string {
  if (names.size > NAMES_MAX) names.clear(); // Not on the way: a name that was met would not be known again.
  lists++;
  let text = '{';
  for (const field of fields) {
    const name = nameOf(field[0]);
    if (!name || name.metIn === lists) return writeGrouped(fields);
    name.metIn = lists;
    text += text.length > 1 ? `,${name.opening}` : name.opening;
    text += `${jsonString(name.isSecret ? HIDDEN : field[1])}]`;
  }
  return `${text}}`;
}

/** The same fields as they were sent, with their secrets hidden. */
export function hideSecrets(fields: HeaderFields): HeaderFields {
  return fields.map(([name, value]) => [name, SECRET.has(name.toLowerCase()) ? HIDDEN : value]);
}

/** Some name is there more than once, as Set-Cookie, or is none of the usual ones. */
function writeGrouped(fields: HeaderFields): string {
  const values = new Map<string, string[]>();
  for (const [name, value] of fields) {
    const lower = name.toLowerCase();
    const shown = SECRET.has(lower) ? HIDDEN : value;
    const known = values.get(lower);
    if (known) known.push(shown);
    else values.set(lower, [shown]);
  }
  const members = Array.from(values, ([name, list]) => `${JSON.stringify(name)}:${JSON.stringify(list)}`);
  return `{${members.join(',')}}`;
}

/** @returns undefined for one that is not worth keeping. */
function nameOf(written: string): Name | undefined {
  const known = names.get(written);
  if (known) return known;
  if (written.length > NAME_LENGTH_MAX) return undefined;
  const lower = written.toLowerCase();
  const name = names.get(lower) ?? {
    opening: `${JSON.stringify(lower)}:[`,
    isSecret: SECRET.has(lower),
    metIn: 0,
  };
  names.set(lower, name).set(written, name);
  return name;
}

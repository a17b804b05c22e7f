// Serializes header fields for traffic events: names in lower case, each with the list of its values, and secrets masked.

import { jsonString } from './json-string.ts';

export type HeaderFields = readonly (readonly [name: string, value: string])[];

/** The fields whose values are masked. Their presence is still visible. */
const SECRET_NAMES = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie']);
const HIDDEN = '***';

/** How many names are cached, and how long they may be. Both are limited because visitors choose the names. */
const NAMES_MAX = 1000;
const NAME_LENGTH_MAX = 64;

interface KnownName {
  /** `"user-agent":[` */
  opening: string;
  isSecret: boolean;
  /** The number of the list of fields that had the name last; it shows repeated names. */
  lastList: number;
}

/** By spelling, and by the name in lower case: several spellings share one entry. */
const knownNames = new Map<string, KnownName>();
let listCount = 0;

/** In JSON. */
export function writeHeaders(fields: HeaderFields): string {
  if (knownNames.size > NAMES_MAX) knownNames.clear(); // Only here: clearing within a list would hide its repeated names.
  listCount++;
  let text = '{';
  for (const field of fields) {
    const name = knownNameOf(field[0]);
    if (!name || name.lastList === listCount) return writeGrouped(fields);
    name.lastList = listCount;
    text += text.length > 1 ? `,${name.opening}` : name.opening;
    text += `${jsonString(name.isSecret ? HIDDEN : field[1])}]`;
  }
  return `${text}}`;
}

/** The same fields as they were sent, with their secrets hidden. */
export function hideSecrets(fields: HeaderFields): HeaderFields {
  return fields.map(([name, value]) => [name, SECRET_NAMES.has(name.toLowerCase()) ? HIDDEN : value]);
}

/** Serializes a list in which a name occurs more than once, such as Set-Cookie, or is too long for the cache. */
function writeGrouped(fields: HeaderFields): string {
  const values = new Map<string, string[]>();
  for (const [name, value] of fields) {
    const lower = name.toLowerCase();
    const shown = SECRET_NAMES.has(lower) ? HIDDEN : value;
    const known = values.get(lower);
    if (known) known.push(shown);
    else values.set(lower, [shown]);
  }
  const members = Array.from(values, ([name, list]) => `${JSON.stringify(name)}:${JSON.stringify(list)}`);
  return `{${members.join(',')}}`;
}

/** @returns undefined for a name that is too long for the cache. */
function knownNameOf(written: string): KnownName | undefined {
  const known = knownNames.get(written);
  if (known) return known;
  if (written.length > NAME_LENGTH_MAX) return undefined;
  const lower = written.toLowerCase();
  const name = knownNames.get(lower) ?? {
    opening: `${JSON.stringify(lower)}:[`,
    isSecret: SECRET_NAMES.has(lower),
    lastList: 0,
  };
  knownNames.set(lower, name).set(written, name);
  return name;
}

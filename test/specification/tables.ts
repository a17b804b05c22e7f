// The tables of the specification, read from `specification.md`: documented objects as trees of members, operations, limits,
// and the sentences that a check is named after.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const text = readFileSync(join(import.meta.dirname, 'specification.md'), 'utf8');

export type Type =
  | { kind: 'string' | 'timestamp' | 'boolean' | 'uint32' | 'float64' }
  | { kind: 'list'; of: Type }
  | { kind: 'object'; members: Member[] };

export interface Member {
  name: string;
  type: Type;
  /** What the table says of it beside its type. */
  rules: string;
}

export interface SpecifiedOperation {
  section: string;
  /** `PATCH /credentials/{id}` */
  call: string;
  method: string;
  path: string;
  status: number;
  /** The members that a body may have; empty where it has none. */
  body: string[];
  /** For a list: the member that holds the objects. */
  list?: string;
}

interface Table {
  section: string;
  header: string[];
  rows: string[][];
}

const cellsOf = (line: string) => line.replace(/^\| | \|$/g, '').split(' | ');

/** The header of the tables that are ours: a name, and a sentence of the specification. */
const OURS = 'Check';

const tables: Table[] = [];
let section = '';
let before = '';
for (const line of text.split('\n')) {
  section = /^##+ ([\d.]*\d)/.exec(line)?.[1] ?? section;
  const isRow = line.startsWith('|');
  if (isRow && !before.startsWith('|')) tables.push({ section, header: cellsOf(line), rows: [] });
  else if (isRow && !line.startsWith('|---')) tables.at(-1)?.rows.push(cellsOf(line));
  before = line;
}

const tablesOf = (section: string, header: string) =>
  tables.filter((table) => table.section === section && table.header[0] === header);

/** The sentences, by the name of their check, as `2.1 bind`. */
export const sentences = new Map(
  tables
    .filter(({ header }) => header[0] === OURS)
    .flatMap(({ section, rows }) => rows.map(([name = '', sentence = '']) => [name, { section, sentence }] as const)),
);

const sentence = (name: string) => {
  const found = sentences.get(name);
  if (!found) throw new Error(`specification.md has no sentence "${name}"`);
  return found;
};

/** The title of a test that proves a sentence. @throws when there is no sentence of that name. */
export const says = (name: string) => `${sentence(name).section} says: ${sentence(name).sentence}`;

/** Splits at commas that are in no parentheses. */
const listed = (words: string) => words.split(/, (?![^(]*\))/);
const string: Type = { kind: 'string' };

/** `{ a: string, b }` in a sentence. */
const braced = (name: string): Member[] =>
  listed(/\{ (.*?) \}/.exec(sentence(name).sentence)?.[1] ?? '').map((item) => {
    const [member = ''] = item.split(':');
    return { name: member, type: string, rules: '' };
  });

/** `auth (AWSAuth), stream_arn (…)`: a type, or words about a text. None has parentheses within its own. */
const inParentheses = (words: string): Member[] =>
  listed(words).map((item) => {
    const [, name = '', about = ''] = /^(\w+)(?: \((.*)\))?$/.exec(item) ?? [];
    return { name, type: typeOf(about || (name.endsWith('_at') ? 'timestamp' : 'string'), about), rules: about };
  });

const object = (members: Member[]): Type => ({ kind: 'object', members });
const awsAuth = () => {
  const names = /`(\w+)` or `(\w+)`/.exec(sentence('2.5 auth').sentence)?.slice(1) ?? [];
  return object(names.map((name) => ({ name, type: object(braced(`2.5 ${name}`)), rules: '' })));
};
const eventTarget = () => {
  const rows = tablesOf('2.5', 'Target member').flatMap((table) => table.rows);
  return object(rows.map(([name = '', fields = '']) => ({ name, type: object(inParentheses(fields)), rules: '' })));
};

function typeOf(words: string, rules: string): Type {
  const [, item] = /^List<(\w+)>$/.exec(words) ?? [];
  if (item) return { kind: 'list', of: typeOf(item, '') };
  const [, members] = /^object: (.*)$/.exec(words) ?? [];
  if (members) return object(inParentheses(members));
  if (words === 'Ref' || words.startsWith('null at creation')) return object(braced('2.2 ref'));
  if (words === 'AWSAuth') return awsAuth();
  if (words === 'EventTarget') return eventTarget();
  if (/RFC 3339|^timestamp/.test(`${words} ${rules}`)) return { kind: 'timestamp' };
  if (words === 'boolean' || words === 'uint32' || words === 'float64') return { kind: words };
  return string;
}

function membersOf(section: string): Member[] {
  const rows = tablesOf(section, 'Field').flatMap((table) => table.rows);
  return rows.flatMap(([names = '', words = '', rules = '']) =>
    names.split(', ').map((name) => {
      const usual = name === 'created_at' ? 'timestamp' : 'string';
      return { name, type: typeOf(words === 'as usual' ? usual : words, rules), rules };
    }),
  );
}

/** What is documented of a kind of object: its section, its name, and the members that an answer has. */
export const objects = {
  credential: { section: '2.1', name: 'Credential', members: membersOf('2.1') },
  endpoint: { section: '2.2', name: 'Endpoint', members: membersOf('2.2') },
  circuitBreaker: { section: '2.3', name: 'CircuitBreaker', members: membersOf('2.3') },
  mutualTls: {
    section: '2.4',
    name: 'MutualTls',
    members: membersOf('2.4').filter(({ rules }) => !rules.startsWith('request only')),
  },
  eventDestination: { section: '2.5', name: 'EventDestination', members: membersOf('2.5') },
  botUser: { section: '2.6', name: 'BotUser', members: membersOf('2.6') },
  reservedDomain: { section: '2.7', name: 'ReservedDomain', members: membersOf('2.7') },
};
export type ObjectName = keyof typeof objects;

/** Members of the answers of the device agent's API. */
export const tunnelMembers = braced('4.8 tunnel').map(({ name }) => name);

const operationOf = (section: string, call: string, body: string, success: string): SpecifiedOperation => {
  const [method = '', path = ''] = call.split(' ');
  const known = body.replace(/^any of /, '').replace(/ \(all [^)]*\)$/, '');
  const [, list] = /\{ (\w+): \[\w+\], uri, next_page_uri \}/.exec(success) ?? [];
  return {
    ...{ section, call, method, path, status: Number(/\b20\d\b/.exec(success)?.[0]), list },
    body: known === 'none' ? [] : listed(known),
  };
};

/** Every operation of sections 4.1 to 4.7; those of 4.6 and 4.7 stand in a sentence. */
export const operations: SpecifiedOperation[] = [
  ...tables
    .filter(({ section, header }) => header[0] === 'Operation' && section !== '4.8')
    .flatMap(({ section, header, rows }) =>
      rows.map((row) => {
        const cell = (name: string) => row[header.indexOf(name)] ?? 'none';
        return operationOf(section, cell('Method and path'), cell('Request body'), cell('Success response'));
      }),
    ),
  ...['4.6', '4.7'].map((section) => {
    const { sentence: words } = sentence(`${section} create`);
    const [, call = '', body = '', success = ''] = /^(\w+ [\w/]+)\. Body: `\{ (.*?) \}`\. (.*)$/.exec(words) ?? [];
    return operationOf(section, call, body.replaceAll(/: \w+/g, ''), success);
  }),
];

/** The calls of the device agent's API. */
export const agentCalls = tablesOf('4.8', 'Operation').flatMap(({ rows }) => rows.map(([, call = '']) => call));

/** Section 8: how many bytes a text may have, the greatest number, and which numbers are uint32. */
const limits = tablesOf('8', 'Limit').flatMap(({ rows }) => rows.map(([limit = '']) => limit));
export const byteLimits = limits.flatMap((limit) => {
  const [, member = '', max] = /^(\w+) max (\d+) bytes$/.exec(limit) ?? [];
  return max ? [{ member, max: Number(max) }] : [];
});
export const bucketsMax = Number(/^num_buckets max (\d+)$/m.exec(limits.join('\n'))?.[1]);
export const shareRange = /^error_threshold_percentage in (\S+) to (\S+)$/m
  .exec(limits.join('\n'))
  ?.slice(1)
  .map(Number);
export const uint32Members = listed(/^uint32 for (.*)$/m.exec(limits.join('\n'))?.[1] ?? '');

/** The prefixes of ids, by what they are for: `credentials`, `endpoints`, … */
export const prefixes = new Map(
  [...sentence('2 ids').sentence.matchAll(/(\w+_) for ([\w ]+?)(?=[,)])/g)].map(([, prefix = '', what = '']) => [
    what,
    prefix,
  ]),
);

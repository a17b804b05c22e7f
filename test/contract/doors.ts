// One operation through either door, with outcomes that can be compared: REST, and GraphQL with the same members asked.

import { expect } from 'vitest';
import { payloadOf } from '../../src/api/builder/payloads.ts';
import { schema } from '../../src/api/schema.ts';
import { inputTypeOf, withGraphqlWords, withRestWords } from '../support/enum-words.ts';
import type { Owner } from '../support/gateway/gateway.ts';

/** An operation as it is documented: its REST path, and the GraphQL root field that is the same. */
export interface Operation {
  /** Set where only clients written for the original service get it. */
  dialect?: 'extended' | undefined;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As `/credentials/{id}`. */
  path: string;
  status: 200 | 201 | 204;
  field: string;
  /** Every member of the answer, nested ones in braces. */
  shape?: string;
  /** The member that holds the objects of a list, whose members are then `shape`. */
  list?: string;
}

/** What the path names, by its parameters. */
export type Ids = Record<string, string>;

export interface Outcome {
  status: number;
  errorCode: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer, which assertions look into.
  body: any;
  /** The member to blame, as this door calls it. */
  member?: string;
  message?: string;
}

/** Which page of a list, in the words of REST. */
export interface Page {
  limit?: unknown;
  before_id?: string;
}

export type Door = (owner: Owner, operation: Operation, ids: Ids, body?: object, page?: Page) => Promise<Outcome>;

export function operation(
  call: string,
  status: Operation['status'],
  field: string,
  shape?: string,
  list?: string,
): Operation {
  const [method, path = ''] = call.split(' ');
  return { method: method as Operation['method'], path, status, field, shape, list };
}

const takesBody = (method: string) => method !== 'GET' && method !== 'DELETE';

export const rest: Door = async (owner, { method, path, dialect }, ids, body, page) => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? ''));
  const address = page ? `${filled}?${new URLSearchParams(JSON.parse(JSON.stringify(page)))}` : filled;
  const answer = await owner.call(method, address, takesBody(method) ? body : undefined, { dialect });
  if (answer.status < 400) return { status: answer.status, errorCode: null, body: answer.body };
  return { status: answer.status, errorCode: answer.body.error_code, body: null, message: answer.body.msg };
};

/** The GraphQL door, for a schema's own types of arguments. */
export async function graphqlDoor(owner: Owner): Promise<Door> {
  const type = 'type { name kind ofType { name kind ofType { name } } }';
  const fields = `{ fields { name args { name ${type} } } }`;
  const { body } = await owner.graphql(`{ __schema { queryType ${fields} mutationType ${fields} } }`);
  const roots = { query: body.data.__schema.queryType, mutation: body.data.__schema.mutationType };

  return async (caller, asked, ids, input, page) => {
    const kind = asked.method === 'GET' ? 'query' : 'mutation';
    const root = roots[kind].fields.find(({ name }: Named) => name === asked.field);
    expect(root, `the ${kind} ${asked.field}`).toBeDefined();
    const given: Record<string, unknown> = camelCased(ids) as Record<string, unknown>;
    const takesInput = root.args.some(({ name }: Named) => name === 'input');
    if (takesInput || input) given.input = withGraphqlWords(inputTypeOf(asked.field), camelCased(input ?? {}));
    if (page?.limit !== undefined) given.first = page.limit;
    if (page?.before_id !== undefined) given.after = page.before_id;
    const args = root.args.filter(({ name }: Named) => name in given);
    expect(args.map(({ name }: Named) => name).sort(), `the arguments of ${asked.field}`).toEqual(
      Object.keys(given).sort(),
    );
    const variables = args.map((arg: Argument) => `$${arg.name}: ${typeText(arg.type)}`).join(', ');
    const values = args.map(({ name }: Named) => `${name}: $${name}`).join(', ');
    const call = `${asked.field}${values && `(${values})`}${selectionOf(asked)}`;
    const answer = await caller.graphql(`${kind}${variables && `(${variables})`} { ${call} }`, given);
    return outcomeOf(withRestWords(inSeconds(answer.body)), asked, ids);
  };
}

/** Times of an answer as REST has them: GraphQL alone has milliseconds. */
function inSeconds(body: Outcome['body']): Outcome['body'] {
  return JSON.parse(JSON.stringify(body).replace(/("\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{3}Z"/g, '$1Z"'));
}

interface Named {
  name: string;
}

interface Type {
  name: string | null;
  kind: string;
  ofType?: Type;
}

interface Argument extends Named {
  type: Type;
}

function typeText({ name, kind, ofType }: Type): string {
  if (!ofType) return String(name);
  return kind === 'LIST' ? `[${typeText(ofType)}]` : `${typeText(ofType)}!`;
}

/** What REST shows as null beside the answer that creates it. */
const TOKEN = /\btoken\b/;
const mutationOf = (name: string) => schema.getMutationType()?.getFields()[name];

function selectionOf({ shape, list, status, field }: Operation): string {
  const payload = payloadOf(mutationOf(field));
  if (payload && status === 204) return ` { ${payload.member ?? '__typename'} }`;
  if (!shape || status === 204) return '';
  // A token is no member of the object: only the payload that creates it has it.
  const members = camelCase(shape).replace(TOKEN, '');
  const once = payload?.secrets.includes('token') && TOKEN.test(shape) ? 'token' : '';
  if (payload) return ` { ${payload.member} { ${members} } ${once} }`;
  return list ? ` { ${camelCase(list)}: nodes { ${members} } uri nextPageUri }` : ` { ${members} }`;
}

interface Result {
  data?: Record<string, unknown> | null;
  errors?: { message: string; extensions: { errorCode: string; status: number; field?: string } }[];
}

function outcomeOf({ data, errors }: Result, asked: Operation, ids: Ids): Outcome {
  if (errors?.[0]) {
    expect(errors).toHaveLength(1);
    expect(data?.[asked.field] ?? null, 'what comes with an error').toBeNull();
    const { message, extensions } = errors[0];
    return {
      status: extensions.status,
      errorCode: extensions.errorCode,
      body: null,
      member: extensions.field,
      message,
    };
  }
  const payload = payloadOf(mutationOf(asked.field));
  const answer = data?.[asked.field] as Record<string, unknown> | null | undefined;
  const { [payload?.member ?? '']: about, ...once } = answer ?? {};
  const given = !payload ? answer : typeof about === 'object' ? { ...about, ...once } : (about ?? ids.id);
  const value = TOKEN.test(asked.shape ?? '') ? withToken(given as Record<string, unknown>, asked) : given;
  if (asked.status !== 204) return { status: asked.status, errorCode: null, body: snakeCased(value) };
  expect(value, 'what a delete or a command answers').toBe(ids.type ?? ids.id);
  return { status: 204, errorCode: null, body: undefined };
}

/** What REST shows of the same: null, where it is not the answer to the creation. */
function withToken(value: Record<string, unknown>, { list }: Operation): Record<string, unknown> {
  const rows = list === undefined ? undefined : (value[camelCase(list)] as object[]);
  return rows
    ? { ...value, [camelCase(list ?? '')]: rows.map((row) => ({ token: null, ...row })) }
    : { token: null, ...value };
}

export const camelCase = (text: string) => text.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
export const snakeCase = (text: string) => text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const camelCased = (value: unknown) => renamed(value, camelCase);
export const snakeCased = (value: unknown) => renamed(value, snakeCase);

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      rename(name),
      isOfUser(name, member) ? member : renamed(member, rename),
    ]),
  );
}

/** Whether the members of a member are the user's own words, or ids. A list of backends holds them whole. */
function isOfUser(name: string, member: unknown): boolean {
  return ['labels', 'config', 'headers'].includes(name) || (name === 'backends' && !Array.isArray(member));
}

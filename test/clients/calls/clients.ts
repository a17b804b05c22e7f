// Four clients of the original service's API, each in what sets its requests apart: Go 8.0, Python 0.17, Ruby 0.27, TypeScript 0.11.
// All of them are generated from one description: a call is told once, in the tables beside this file, and how a client writes a
// call down is told once, here.

import type { OutgoingHttpHeaders } from 'node:http';

export type ClientName = 'go' | 'python' | 'ruby' | 'typescript';
export const clientNames: ClientName[] = ['go', 'python', 'ruby', 'typescript'];

export type Members = Record<string, unknown>;

/** What a call can be given: samples, and what is written for what was not given. `$name` in a sample is something of the world. */
export interface Writing {
  /** What every caller gives. */
  needs?: Members;
  /** All the rest, in each of the ways that exclude each other. */
  given?: Members[];
  /** What Python and Ruby write for members that were not given; they leave out all others. */
  blank?: Members;
  /** Structures that Go writes even when there is nothing in them. */
  hollow?: string[];
  /** Members that not every client knows. */
  only?: Record<string, ClientName[]>;
}

/** A body as it goes over the wire, or none. */
export type Body = Members | string | undefined;

export interface Paging {
  limit?: number;
  before?: string;
}

export interface Client {
  /** Beside the API key and the version. */
  headers(hasBody: boolean): OutgoingHttpHeaders;
  /** The body of a POST or PATCH. @param path what the path names. */
  body(writing: Writing, given: Members, path: Members): Body;
  /** The body of a module's PUT; `module` is undefined where the caller gave none. */
  module(module: Members | undefined, path: Members): Body;
  /** The body of a POST that takes none. @param isUpdate for a command that has a type of its own. */
  command(path: Members, isUpdate: boolean): Body;
  page(paging: Paging): string;
}

const json = (hasBody: boolean) => (hasBody ? { 'content-type': 'application/json' } : {});
const page = ({ limit, before }: Paging) =>
  [...(before ? [`before_id=${before}`] : []), ...(limit ? [`limit=${limit}`] : [])].join('&');

/** What Go tells apart from "not given" when it is false. */
const goPointers = ['enabled', 'active', 'pooling_enabled', 'enforced'];
/** Members whose own members are the user's. */
const maps = ['labels', 'headers', 'add', 'backends'];

export const clients: Record<ClientName, Client> = {
  go: {
    headers: (hasBody) => ({
      ...{ 'user-agent': 'api-go/unknown/go1.24.2' },
      ...json(hasBody),
    }),
    body: ({ hollow = [] }, given) => ({
      ...Object.fromEntries(hollow.map((member) => [member, {}])),
      ...(withoutEmpty(given) as Members),
    }),
    module: (module = {}) => withoutEmpty(module) as Members,
    command: () => ({}),
    page,
  },
  python: {
    headers: (hasBody) => ({
      ...{ 'user-agent': 'api-python/0.17.0/3.12.3', accept: '*/*' },
      ...json(hasBody),
    }),
    body: ({ blank = {} }, given) => withoutNull({ ...blank, ...given }),
    // An empty payload is none.
    module: (module = {}) => (Object.keys(module).length > 0 ? withoutNull(module) : undefined),
    command: () => undefined,
    page,
  },
  ruby: {
    headers: (hasBody) => ({
      ...{ 'user-agent': 'api-ruby//3.2.3-p157', accept: '*/*' },
      ...json(hasBody),
    }),
    body: ({ blank = {} }, given) =>
      Object.fromEntries(
        Object.entries({ ...blank, ...given }).filter(([, value]) => value !== null && value !== false),
      ),
    module: (module = {}) => module,
    command: () => ({}),
    page,
  },
  typescript: {
    headers: () => ({
      ...{ 'user-agent': 'api-typescript/0.10.0/v20.19.0', accept: '*/*' },
      // With each request, one without a body too.
      'content-type': 'application/json',
    }),
    body: (_, given, path) => ({ ...path, ...given }),
    module: (module, path) => ({ ...path, ...(module && { module }) }),
    // Not in quotes: it is no JSON.
    command: (path, isUpdate) => (isUpdate ? path : String(path.id)),
    page: ({ limit = 100, before }) => `limit=${limit}${before ? `&beforeId=${before}` : ''}`,
  },
};

/** The members that a client knows. */
export function known({ only = {} }: Writing, client: ClientName, members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => only[name]?.includes(client) ?? true));
}

function withoutNull(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

function withoutEmpty(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutEmpty(item));
  if (typeof value !== 'object' || value === null || maps.includes(name)) return value;
  const kept = Object.entries(value).filter(([member, it]) => !isEmpty(it, member));
  return Object.fromEntries(kept.map(([member, it]) => [member, withoutEmpty(it, member)]));
}

function isEmpty(value: unknown, name: string): boolean {
  if (value === false) return !goPointers.includes(name);
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === null || value === '' || value === 0;
}

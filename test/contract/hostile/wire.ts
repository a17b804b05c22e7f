// Requests that are wrong already as HTTP, and what is wrong about the way GraphQL comes in.

import { Agent } from 'node:http';
import { send } from '../../support/gateway/http.ts';
import type { World } from '../world.ts';

export interface HostileBytes {
  title: string;
  /** The status, and the number of the error where the gateway itself gets to see the request. */
  status: number;
  number?: number;
  send(world: World): Promise<{ status: number; errorCode?: string }>;
}

const agent = new Agent({ keepAlive: false });

function graphql(
  title: string,
  status: number,
  number: number,
  method: string,
  path: string,
  payload?: unknown,
): HostileBytes {
  return {
    title: `graphql: ${title}`,
    status,
    number,
    async send({ account, gateway }) {
      const text = payload === undefined || typeof payload === 'string' ? payload : JSON.stringify(payload);
      const headers = {
        authorization: `Bearer ${account.key}`,
        accept: 'application/graphql-response+json',
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const answer = await send(agent, method, `${gateway.api}${path}`, headers, text as string | undefined);
      return { status: answer.status, errorCode: answer.body?.errors?.[0]?.extensions?.errorCode };
    },
  };
}

const post = (title: string, number: number, payload: unknown, status = 400) =>
  graphql(title, status, number, 'POST', '/graphql', payload);
const get = (title: string, number: number, query: string, more = '', status = 400) =>
  graphql(title, status, number, 'GET', `/graphql?query=${encodeURIComponent(query)}${more}`);

const create = 'mutation { createCredential(input: {}) { credential { id } } }';
const two = 'query A { credentials { uri } } query B { credentials { uri } }';
const graphqlOverHttp = [
  post('no query', 215, {}),
  post('a query that is no text', 215, { query: 5 }),
  post('variables in a list', 215, { query: '{ credentials { uri } }', variables: [] }),
  post('variables as text', 215, { query: '{ credentials { uri } }', variables: '{}' }),
  post('an operation name that is no text', 215, { query: '{ credentials { uri } }', operationName: 5 }),
  post('extensions in a list', 215, { query: '{ credentials { uri } }', extensions: [] }),
  post('an operation that is not there', 90012, { query: two, operationName: 'C' }),
  post('an operation name for an operation without', 90012, { query: '{ credentials { uri } }', operationName: 'A' }),
  post('several requests in one', 90337, [{ query: create }, { query: create }]),
  post('broken JSON', 213, '{"query":'),
  post('a member twice', 90005, '{"query":"{ __typename }","query":"{ credentials { uri } }"}'),
  post('a variable twice', 90005, '{"query":"{ credentials { uri } }","variables":{"a":1,"a":2}}'),
  post('__proto__ in variables', 90006, '{"query":"{ credentials { uri } }","variables":{"__proto__":{}}}'),
  post('65 KiB', 90004, { query: `{ credentials { uri } } # ${'x'.repeat(65 * 1024)}` }, 413),
  get('by GET: half a document', 90012, '{ credentials {'),
  get('by GET: an unknown field', 90012, '{ secrets }'),
  get(
    'by GET: too many aliases',
    90013,
    `{ credentials { ${Array.from({ length: 51 }, (_, i) => `a${i}: uri`).join(' ')} } }`,
  ),
  get('by GET: an operation that is not there', 90012, two, '&operationName=C'),
  get('by GET: variables that are no JSON', 90012, 'query ($id: ID!) { credential(id: $id) { id } }', '&variables=%7B'),
  get('by GET: a mutation', 90012, create, '', 405),
];

/** Bytes on a socket; the answer's status line is all that is looked at, and the error code in it. */
function raw(
  title: string,
  status: number,
  bytes: (world: World) => string,
  number = status === 431 ? 90311 : 90310,
): HostileBytes {
  return {
    title: `raw: ${title}`,
    status,
    number,
    async send(world) {
      const answer = await world.gateway.raw(bytes(world));
      const errorCode = /"error_code":"(\w+)"/.exec(answer)?.[1];
      return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]), errorCode };
    },
  };
}

const head = ({ account }: World, start: string, ...lines: string[]) =>
  [
    start,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${account.key}`,
    'Service-Version: 2',
    'Connection: close',
    ...lines,
    '',
    '',
  ].join('\r\n');
const json = 'Content-Type: application/json';

const wire = [
  raw('no HTTP', 400, () => 'credentials please\r\n\r\n'),
  raw('a NUL in a header', 400, (world) => head(world, 'GET /credentials HTTP/1.1', 'X-Note: a\0b')),
  raw('a header of 32 KiB', 431, (world) =>
    head(world, 'GET /credentials HTTP/1.1', `X-Note: ${'x'.repeat(32 * 1024)}`),
  ),
  raw('a path of 32 KiB', 431, (world) => head(world, `GET /credentials/${'x'.repeat(32 * 1024)} HTTP/1.1`)),
  raw(
    'a length and chunks',
    400,
    (world) =>
      `${head(world, 'POST /credentials HTTP/1.1', json, 'Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  ),
  raw(
    'two lengths',
    400,
    (world) => `${head(world, 'POST /credentials HTTP/1.1', json, 'Content-Length: 2', 'Content-Length: 3')}{} `,
  ),
  raw('a length that is no number', 400, (world) =>
    head(world, 'POST /credentials HTTP/1.1', json, 'Content-Length: -2'),
  ),
  raw(
    'a chunk that is none',
    400,
    (world) => `${head(world, 'POST /credentials HTTP/1.1', json, 'Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`,
  ),
  raw('dots in the path', 404, (world) => head(world, 'GET /credentials/../credentials HTTP/1.1'), 90002),
  raw('a path out of the root', 404, (world) => head(world, 'GET /../../etc/passwd HTTP/1.1'), 90002),
  raw('another host’s address', 404, (world) => head(world, 'GET http://evil.example/credentials/x/y HTTP/1.1'), 90002),
  raw('OPTIONS of the server', 404, (world) => head(world, 'OPTIONS * HTTP/1.1'), 90002),
];

export const hostileBytes = [...graphqlOverHttp, ...wire];

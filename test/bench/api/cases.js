// What is measured: the requests, the servers that answer them, and what their answers must have in common.

import { MADE } from './data.js';

/**
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path `%ID%`, here and in the body, stands for the id of a credential, `%N%` for any six digits.
 * @property {unknown} [body]
 */

/**
 * @typedef {object} Case
 * @property {string} title
 * @property {boolean} [writes]
 * @property {boolean} [embedded] gateways have their own database, without a server.
 * @property {number} [connections] of the clients, where it is not the usual number.
 * @property {boolean} [byRate] servers are compared by their requests per second, and not by their CPU.
 * @property {Request} request
 * @property {number} status
 * @property {string[]} against the servers that the others are held against.
 * @property {Target[]} targets
 */

/** @typedef {{ against: string, atMost?: number, below?: number, atLeast?: number }} Target of the gateway: times another server's. */

/** How many times a request of the steady state one of the first 1,000 may cost. */
export const FIRST_CALLS_TIMES = 2;

const GATEWAY = 'this gateway';
/** The gateway of an earlier commit. */
export const BEFORE = 'the gateway before';
export const BARE = 'node:http + pg';
/** Writes all rows that the gateway writes, in one transaction. */
export const FAIR = 'node:http + pg, the same rows';
/** Needs no packages of its own. */
export const BARE_FILE = 'node-http.js';
/** No server: what PostgreSQL's own client does with the database by itself. */
export const PGBENCH_FILE = 'pgbench';
const PGBENCH = 'pgbench, the same inserts';
const APOLLO = 'Apollo Server + Prisma';
const MERCURIUS = 'Mercurius jit + Prisma';

const credential = 'id uri createdAt description metadata acl ownerId';
const owner = 'owner { __typename id active createdAt }';

/** @param {string} query @param {object} [variables] @returns {Request} */
const graphql = (query, variables = {}) => ({ method: 'POST', path: '/graphql', body: { query, variables } });

/** @type {Request} */
const CREATE = { method: 'POST', path: '/credentials', body: { description: MADE, acl: ['bind:*.example.com'] } };

/** @type {Record<string, Case>} */
export const cases = {
  'rest-get': {
    title: 'REST get',
    request: { method: 'GET', path: '/credentials/%ID%' },
    status: 200,
    against: [BARE],
    targets: [{ against: BARE, atMost: 2.5 }],
  },
  'rest-list': {
    title: 'REST list of 100',
    request: { method: 'GET', path: '/credentials?limit=100' },
    status: 200,
    against: [BARE],
    targets: [{ against: BARE, atMost: 2 }],
  },
  'rest-create': {
    title: 'REST create',
    writes: true,
    request: CREATE,
    status: 201,
    against: [BARE, FAIR],
    targets: [
      { against: BARE, atMost: 8 },
      { against: FAIR, atMost: 3 },
    ],
  },
  'rest-update': {
    title: 'REST update',
    writes: true,
    request: { method: 'PATCH', path: '/credentials/%ID%', body: { description: 'changed to %N%' } },
    status: 200,
    against: [BARE, FAIR],
    targets: [
      { against: BARE, atMost: 8 },
      { against: FAIR, atMost: 3 },
    ],
  },
  'graphql-get': {
    title: 'GraphQL get',
    request: graphql(`query Get($id: ID!) { credential(id: $id) { ${credential} } }`, { id: '%ID%' }),
    status: 200,
    against: [APOLLO, MERCURIUS],
    targets: [
      { against: APOLLO, below: 1 },
      { against: MERCURIUS, atMost: 1 },
    ],
  },
  'graphql-list': {
    title: 'GraphQL list of 100 with owners',
    request: graphql(`query List { credentials(first: 100) { nodes { ${credential} ${owner} } uri nextPageUri } }`),
    status: 200,
    against: [APOLLO, MERCURIUS],
    targets: [
      { against: APOLLO, below: 1 },
      { against: MERCURIUS, atMost: 0.8 },
    ],
  },
  'concurrent-create': {
    title: 'REST create, 64 at once',
    writes: true,
    connections: 64,
    byRate: true,
    request: CREATE,
    status: 201,
    against: [PGBENCH, FAIR],
    targets: [{ against: PGBENCH, atLeast: 0.5 }],
  },
  'embedded-create': {
    title: 'REST create, embedded database',
    writes: true,
    embedded: true,
    byRate: true,
    request: CREATE,
    status: 201,
    against: [BEFORE],
    targets: [{ against: BEFORE, atLeast: 2 }],
  },
};

/**
 * @typedef {object} Server
 * @property {string} name
 * @property {string} file under `test/bench/peers`; empty for a gateway.
 * @property {string[]} cases
 * @property {Record<string, Request>} [requests] in place of the usual ones.
 * @property {Record<string, string>} [env]
 * @property {boolean} [newerNode] needs Node 22.
 */

const writes = ['rest-create', 'rest-update'];
const everyCase = Object.keys(cases);
const rest = ['rest-get', 'rest-list', ...writes];
const graph = ['graphql-get', 'graphql-list'];

/** PostGraphile's own names, by alias what they are elsewhere. It fills in `accountId` itself. */
const postgraphile = (() => {
  const members = 'id: rowId createdAt description metadata acl ownerId';
  const itsOwner = 'owner: ownerByOwnerId { id: rowId active createdAt }';
  return {
    'graphql-get': graphql(
      `query Get($id: String!, $accountId: String) {
        allCredentials(condition: { rowId: $id, accountId: $accountId }, first: 1) { nodes { ${members} } }
      }`,
      { id: '%ID%' },
    ),
    'graphql-list': graphql(
      `query List($accountId: String) {
        credentials: allCredentials(condition: { accountId: $accountId }, orderBy: PRIMARY_KEY_DESC, first: 100) {
          nodes { ${members} ${itsOwner} } pageInfo { hasNextPage endCursor }
        }
      }`,
    ),
  };
})();

/** @type {Server[]} The gateway comes first. */
export const servers = [
  { name: GATEWAY, file: '', cases: everyCase },
  { name: BARE, file: BARE_FILE, cases: rest },
  { name: FAIR, file: BARE_FILE, cases: [...writes, 'concurrent-create'], env: { BENCH_ALL_ROWS: '1' } },
  { name: PGBENCH, file: PGBENCH_FILE, cases: ['concurrent-create'] },
  { name: 'pgbench, and a notice', file: PGBENCH_FILE, cases: ['concurrent-create'], env: { BENCH_NOTICE: '1' } },
  { name: 'Fastify + pg', file: 'fastify.js', cases: rest },
  { name: APOLLO, file: 'apollo.js', cases: graph },
  { name: MERCURIUS, file: 'mercurius.js', cases: graph },
  { name: 'PostGraphile (Node 22)', file: 'postgraphile.js', cases: graph, requests: postgraphile, newerNode: true },
];

/** @type {Server} */
export const before = { name: BEFORE, file: '', cases: everyCase };

/** Said below the tables. */
export const notes = [
  'Every peer knows the caller by the digest of the API key (kept 5 s), scopes to the account, writes one log line.',
  'The gateway also counts against the rate limit, gives operation ids, validates against its schema, keeps metrics; its',
  'writes are transactions with an entry of the audit trail, a look for subscriptions, and a notice to other gateways',
  '(NOTIFY). The bare create is one INSERT, the bare update one UPDATE; the peer with the same rows does all of that.',
  'pgbench makes the same rows in one transaction, with prepared statements and as many connections as there are clients; with a',
  'notice (NOTIFY), as the gateway sends one, commits wait for each other.',
  'First: a call among the first 1,000 after a start, in a process that has done nothing else. Database: CPU of its backends.',
  'PostGraphile has neither uri nor token, and asks for the account as a condition that its server fills in.',
];

/**
 * The part of an answer that has to be the same from every server.
 * @param {string} name of the case.
 * @param {string} text
 * @param {string} origin the server's own, which is left out of URIs.
 */
export function essence(name, text, origin) {
  const answer = JSON.parse(text.replaceAll(origin, ''));
  if (answer.errors) throw new Error(`errors in the answer: ${JSON.stringify(answer.errors)}`);
  const { data = answer } = answer;
  if (name === 'rest-update') return { ...data, description: '' };
  if (name.endsWith('-create'))
    return { ...data, id: data.id.length, uri: data.uri.length, token: data.token.length, created_at: '' };
  return name.startsWith('graphql') ? plain(data) : data;
}

/** Of GraphQL answers, what PostGraphile has too: the same rows with the same members and owners. @param {any} data */
function plain(data) {
  const rows = data.credentials?.nodes ?? data.allCredentials?.nodes ?? [data.credential];
  return rows.map((/** @type {any} */ { uri, token, owner, createdAt, ...row }) => ({
    ...row,
    createdAt: seconds(createdAt),
    owner: owner && { id: owner.id, active: owner.active, createdAt: seconds(owner.createdAt) },
  }));
}

/** @param {string} time */
const seconds = (time) => Math.floor(Date.parse(time) / 1000);

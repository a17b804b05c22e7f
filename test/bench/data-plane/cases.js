// What is measured, over which paths, and what is asked of the results.

import { isSmoke } from '../api/processes.js';

/** @typedef {'http' | 'https' | 'h2'} Over what visitors speak: HTTP/1.1, the same in TLS, HTTP/2 in TLS. */

/**
 * @typedef {object} Case
 * @property {string} title
 * @property {string} path at the origin.
 * @property {number} bytes of the answer's body; for an upload of the request's.
 * @property {'requests' | 'down' | 'up'} kind
 * @property {Over} [over] `http` when left out.
 * @property {number} [connections] of requests; over `h2` requests at a time, on one connection.
 * @property {boolean} [close] every request has a connection of its own.
 */

/** What an origin answers to `/small`: 19 bytes. */
export const SMALL = 'hello from origin!\n';
export const PAGE_BYTES = 16 * 1024;
export const DOWN_BYTES = isSmoke ? 5_242_880 : 524_288_000;
export const UP_BYTES = isSmoke ? 2_560_000 : 256_000_000;

const megabytes = (/** @type {number} */ bytes) => `${Math.round(bytes / 1e6)} MB`;
const upload = `One upload of ${megabytes(UP_BYTES)}`;

const small = { path: '/small', bytes: SMALL.length, kind: /** @type {const} */ ('requests') };
const page = { path: '/page', bytes: PAGE_BYTES, kind: /** @type {const} */ ('requests') };

/** @type {Record<string, Case>} */
export const cases = {
  'small-1': { ...small, title: '19 B, 1 connection', connections: 1 },
  'small-64': { ...small, title: '19 B, 64 connections', connections: 64 },
  'page-1': { ...page, title: '16 KiB, 1 connection', connections: 1 },
  'page-64': { ...page, title: '16 KiB, 64 connections', connections: 64 },
  connect: { ...small, title: '19 B, a connection for each request, 32 at a time', connections: 32, close: true },
  down: { title: `One download of ${megabytes(DOWN_BYTES)}`, path: '/large', bytes: DOWN_BYTES, kind: 'down' },
  up: { title: upload, path: '/up', bytes: UP_BYTES, kind: 'up' },
  'https-up': { title: `${upload} over HTTPS/1.1`, path: '/up', bytes: UP_BYTES, kind: 'up', over: 'https' },
  'h2-up': { title: `${upload} over HTTP/2`, path: '/up', bytes: UP_BYTES, kind: 'up', over: 'h2' },
  'h2-small': { ...small, title: '19 B over HTTP/2, 32 at a time, 1 connection', connections: 32, over: 'h2' },
};

/** Names of the paths, in the order in which they are shown. */
export const PATHS = ['direct', 'nginx', 'haproxy', 'ssh', 'agent', 'sdk', 'before'];
/** Those on which visitors can speak TLS. */
export const TLS_PATHS = ['nginx', 'haproxy', 'agent', 'before'];

/** Not a case like the others: it is measured once, after them. */
export const IDLE = 'idle';
export const IDLE_AGENTS = isSmoke ? 10 : 200;
/** An idle agent may take so many bytes of the gateway's memory, and not one more. */
export const IDLE_MAX = 100_000;

/**
 * @typedef {object} Target what the path `agent` has to reach in a case.
 * @property {string} case
 * @property {keyof import('./report.js').Figures} figure
 * @property {string} against a path.
 * @property {string} [than] another case, of which that path's figure is taken.
 * @property {'<' | '<=' | '>' | '>='} is how the ratio to that path has to be to `times`.
 * @property {number} times
 */

/** A build may need so many times the CPU of the one before: anything less cannot be told from noise here. */
export const NO_SLOWER = 1.05;

/** An upload over HTTP/2 may cost so many times what it costs over HTTPS/1.1: it is framed once more. */
const FRAMED_TWICE = 1.25;

const isPlain = (/** @type {string} */ name) => (cases[name]?.over ?? 'http') === 'http';
const requestCases = Object.keys(cases).filter((name) => cases[name]?.kind === 'requests' && isPlain(name));
const bulkCases = ['down', 'up'];

/** @type {Target[]} */
export const targets = [
  { case: 'small-64', figure: 'cpu', against: 'nginx', is: '<=', times: 1 },
  { case: 'small-64', figure: 'perSecond', against: 'nginx', is: '>', times: 1 },
  { case: 'small-64', figure: 'p99', against: 'direct', is: '<', times: 4 },
  { case: 'page-64', figure: 'p99', against: 'direct', is: '<', times: 4 },
  ...requestCases.flatMap((name) => [
    {
      case: name,
      figure: /** @type {const} */ ('perSecond'),
      against: 'ssh',
      is: /** @type {const} */ ('>'),
      times: 1,
    },
    { case: name, figure: /** @type {const} */ ('p99'), against: 'ssh', is: /** @type {const} */ ('<'), times: 1 },
    { case: name, figure: /** @type {const} */ ('cpu'), against: 'ssh', is: /** @type {const} */ ('<='), times: 1 },
  ]),
  ...bulkCases.flatMap((name) => [
    {
      case: name,
      figure: /** @type {const} */ ('perSecond'),
      against: 'ssh',
      is: /** @type {const} */ ('>='),
      times: 1,
    },
    { case: name, figure: /** @type {const} */ ('cpu'), against: 'ssh', is: /** @type {const} */ ('<='), times: 1 },
  ]),
  { case: 'h2-up', figure: 'cpu', against: 'agent', than: 'https-up', is: '<=', times: FRAMED_TWICE },
  ...Object.keys(cases).map((name) => ({
    case: name,
    figure: /** @type {const} */ ('cpu'),
    against: 'before',
    is: /** @type {const} */ ('<='),
    times: NO_SLOWER,
  })),
];

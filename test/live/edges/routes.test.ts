// The routes of an HTTPS edge: which one a request takes.

import { beforeAll, expect, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import {
  backendOf,
  done,
  errorOf,
  http2Visitor,
  labelled,
  newEdge,
  newName,
  newRoute,
  shown,
  startShowing,
  visitEdge,
} from './support.ts';

let gateway: TestGateway;
let account: Account;
let authtoken: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  ({ authtoken } = await newCredential(account));
});

/** An edge with a tunnel behind it; each of its routes says in answers which it is. */
async function routed(...matches: [matchType: string, match: string][]) {
  const labels = { app: newName() };
  await labelled(await sdkSession(gateway, authtoken), labels, (await startShowing()).url);
  const edge = await newEdge(account);
  const backend = await backendOf(account, labels);
  const add = (match_type: string, match: string) => {
    const response_headers = { add: { 'x-route': `${match_type} ${match}` } };
    return newRoute(account, edge, { match_type, match, backend, response_headers });
  };
  const paths: string[] = [];
  for (const [matchType, match] of matches) paths.push(await add(matchType, match));
  const taken = async (path: string) => {
    const answer = await visitEdge(gateway, edge, path);
    const route = answer.headers['x-route'];
    // Node reads headers as Latin-1; the gateway writes UTF-8.
    return route === undefined ? errorOf(answer) : Buffer.from(String(route), 'latin1').toString();
  };
  return { edge, paths, add, taken };
}

test('exact paths come before prefixes, and longer prefixes before shorter ones, whatever was made first', async () => {
  const { edge, taken } = await routed(
    ['path_prefix', '/a'],
    ['path_prefix', '/a/b'],
    ['exact_path', '/a/b/c'],
    ['path_prefix', '/a/b/c/d'],
    ['exact_path', '/a'],
  );
  const expected = {
    '/': 90130,
    '/b': 90130,
    '/a': 'exact_path /a',
    '/a?b=/a/b': 'exact_path /a',
    '/a/': 'path_prefix /a',
    '/about': 'path_prefix /a',
    '/a/b': 'path_prefix /a/b',
    '/a/b/c': 'exact_path /a/b/c',
    '/a/b/c?': 'exact_path /a/b/c',
    '/a/b/c/': 'path_prefix /a/b',
    '/a/b/c/d/e': 'path_prefix /a/b/c/d',
    '/A': 90130,
  };
  for (const [path, route] of Object.entries(expected)) expect(await taken(path), path).toBe(route);
  expect(await visitEdge(gateway, edge, '/b')).toMatchObject({ status: 404 });
  const byHttp2 = await http2Visitor(gateway, edge);
  expect((await byHttp2('/a/b/c')).headers['x-route']).toBe('exact_path /a/b/c');
  expect((await byHttp2('/b')).status).toBe(404);
});

test('a path is the same in all its spellings, of visitors and of routes', async () => {
  const { edge, taken } = await routed(
    ['exact_path', '/x/../%61%2f'],
    ['path_prefix', '/caf%c3%a9/./%7Eme'],
    ['path_prefix', '/bücher'],
    ['path_prefix', '/.'],
    ['path_prefix', '/a/..'],
  );
  const expected = {
    '/a%2F': 'exact_path /x/../%61%2f',
    '/%61%2f': 'exact_path /x/../%61%2f',
    '/a/': 90130,
    '/caf%C3%A9/~me/x': 'path_prefix /caf%c3%a9/./%7Eme',
    '/caf%c3%a9/%7eme': 'path_prefix /caf%c3%a9/./%7Eme',
    '/b%c3%bccher/1': 'path_prefix /bücher',
    '/.git': 'path_prefix /.',
    '/%2egit': 'path_prefix /.',
    '/git': 90130,
    '/a/..b': 'path_prefix /a/..',
  };
  for (const [path, route] of Object.entries(expected)) expect(await taken(path), path).toBe(route);
  // As browsers would not send it: they resolve it themselves.
  const raw = await visitEdge(gateway, edge, '/', { path: '/z/../caf%C3%A9/y/../~me?q' });
  expect(shown(raw).url).toBe('/z/../caf%C3%A9/y/../~me?q');
  expect(raw.headers['x-route']).toBe('path_prefix /caf%c3%a9/./%7Eme');
});

test('a route that is added, changed or deleted takes requests at once', async () => {
  const { paths, add, taken } = await routed(['path_prefix', '/']);
  expect(await taken('/shop')).toBe('path_prefix /');
  const shop = await add('path_prefix', '/shop');
  expect(await taken('/shop/1')).toBe('path_prefix /shop');
  await done(account, 'PATCH', shop, { match_type: 'exact_path' });
  expect(await taken('/shop/1')).toBe('path_prefix /');
  await done(account, 'PATCH', shop, { match: '/shop/1' });
  expect(await taken('/shop/1')).toBe('path_prefix /shop');
  await done(account, 'DELETE', shop);
  expect(await taken('/shop/1')).toBe('path_prefix /');
  await done(account, 'DELETE', paths[0] as string);
  expect(await taken('/shop/1')).toBe(90130);
});

test('of two spellings of the same match one counts, and when its route goes the other', async () => {
  for (const matchType of ['exact_path', 'path_prefix']) {
    const { paths, taken } = await routed([matchType, '/%61'], [matchType, '/a']);
    const [first, second] = [paths[0] as string, paths[1] as string].sort();
    expect(await taken('/a')).toBe(`${matchType} ${first === paths[0] ? '/%61' : '/a'}`);
    await done(account, 'DELETE', first as string);
    expect(await taken('/%61'), second).toBe(`${matchType} ${first === paths[0] ? '/a' : '/%61'}`);
  }
});

test('each route has tunnels and modules of its own', async () => {
  const { edge, paths, taken } = await routed(['path_prefix', '/'], ['path_prefix', '/api']);
  await done(account, 'PUT', `${paths[1]}/basic_auth`, { credentials: [{ username: 'one', password: 'a password' }] });
  expect(await taken('/')).toBe('path_prefix /');
  expect(await visitEdge(gateway, edge, '/api')).toMatchObject({ status: 401 });
  await done(account, 'PUT', `${paths[0]}/backend`, await backendOf(account, { app: newName() }));
  expect(await taken('/')).toBe(6528);
  expect(await visitEdge(gateway, edge, '/api')).toMatchObject({ status: 401 });
  await done(account, 'DELETE', `${paths[1]}/basic_auth`);
  expect(await taken('/api')).toBe('path_prefix /api');
});

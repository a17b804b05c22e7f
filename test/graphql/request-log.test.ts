// The request log: what is kept of every endpoint’s requests without anybody having asked for it, and why visitors were turned away.

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newEdge, newName, visitEdge } from '../live/edges/support.ts';
import { eventually } from '../support/eventually.ts';
import type { Owner } from '../support/gateway/gateway.ts';
import { subscribe } from '../support/gateway/sse.ts';
import { type CaptureLab, startCaptureLab } from './capture/lab.ts';

const LOGGED = `id endpointId routeId startedAt startedAtMilliseconds clientIp httpVersion method url host path status isComplete isOpen
  bytesIn bytesOut userAgent operationId refusal { module reason } errorCode
  upstreamMilliseconds firstByteMilliseconds durationMilliseconds`;

let lab: CaptureLab;
beforeAll(async () => {
  lab = await startCaptureLab();
});
afterAll(() => lab?.close());

/** A page of the log. @param args further arguments of the field. */
const page = (endpointId: string | null, args = '', owner?: Owner) =>
  lab.run(
    `query ($id: ID) { requestLog(endpointId: $id${args}) { partial pageInfo { hasNextPage endCursor } nodes { ${LOGGED} } } }`,
    { id: endpointId },
    owner,
  );
const logged = async (endpointId: string | null, args = '', owner?: Owner) =>
  (await page(endpointId, args, owner)).nodes;
const paths = (nodes: { path: string }[]) => nodes.map(({ path }) => path);

describe('of every request to an endpoint', () => {
  test('the log has what it was, what became of it, and how long each part took', async () => {
    const tunnel = await lab.tunnel();
    const began = Date.now();
    const headers = { 'user-agent': `tester/1.0 ${'x'.repeat(300)}`, authorization: 'Bearer top-secret-1' };
    await lab.visit(tunnel, '/a?token=top-secret-2&page&top-secret-3', { method: 'POST', body: 'asked', headers });
    await lab.visit(tunnel, '/teapot');
    const [second, first] = await logged(tunnel.id);
    expect(second).toMatchObject({ method: 'GET', path: '/teapot', status: 418, userAgent: '' });
    expect(first).toMatchObject({
      id: expect.stringMatching(/^rq_[0-9a-z]{27}$/),
      endpointId: tunnel.id,
      routeId: null,
      clientIp: '127.0.0.1',
      httpVersion: 'HTTP/1.1',
      method: 'POST',
      path: '/a?token=…&…&…',
      url: expect.stringMatching(/^http:\/\/.+\/a\?token=…&…&…$/),
      status: 200,
      isComplete: true,
      isOpen: false,
      bytesIn: 5,
      bytesOut: 7,
      userAgent: `tester/1.0 ${'x'.repeat(189)}`,
      operationId: null,
      refusal: null,
      errorCode: null,
    });
    expect(Math.abs(first.startedAtMilliseconds - began)).toBeLessThan(10_000);
    const one = 'query ($id: ID!) { loggedRequest(id: $id) { path } }';
    expect(await lab.run(one, first)).toEqual({ path: '/a?token=…&…&…' });
    const members = '{ __typename id ... on LoggedRequest { path endpoint { publicUrl } } }';
    expect(await lab.run(`query ($id: ID!) { node(id: $id) ${members} }`, first)).toEqual({
      ...{ __typename: 'LoggedRequest', id: first.id, path: '/a?token=…&…&…' },
      endpoint: { publicUrl: expect.stringContaining(tunnel.name) },
    });
    const never = `rq_${'0'.repeat(27)}`;
    const found = await lab.run(`query ($ids: [ID!]!) { nodes(ids: $ids) { ... on LoggedRequest { path } } }`, {
      ids: [second.id, never, first.id],
    });
    expect(found).toEqual([{ path: '/teapot' }, null, { path: '/a?token=…&…&…' }]);
    const stranger = await lab.gateway.newAccount();
    expect(await lab.run('query ($id: ID!) { node(id: $id) { id } }', first, stranger)).toBeNull();
    const { upstreamMilliseconds, firstByteMilliseconds, durationMilliseconds } = first;
    const times = [0, upstreamMilliseconds, firstByteMilliseconds, durationMilliseconds];
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  test('a connection that was upgraded is there at once, and counts its bytes until it ends', async () => {
    const tunnel = await lab.tunnel();
    const [host = '', port] = lab.gateway.http.split(':');
    const socket = connect(Number(port), host);
    onTestFinished(() => void socket.destroy());
    socket.write(`GET /ws HTTP/1.1\r\nHost: ${tunnel.name}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    expect(await logged(tunnel.id)).toMatchObject([{ path: '/ws', status: 101, isOpen: true }]);
    socket.end('hello');
    await eventually(async () =>
      expect(await logged(tunnel.id)).toMatchObject([{ status: 101, isOpen: false, bytesIn: 5, bytesOut: 0 }]),
    );
  });
});

describe('who was turned away', () => {
  test('by a module is there with the module, its reason, and the error and operation that the visitor was shown', async () => {
    const name = newName('refused');
    await lab.session.httpEndpoint().scheme('http').domain(name).allowCidr('10.0.0.0/8').listenAndForward(lab.upstream);
    const tunnel = { name, scheme: 'http', id: await lab.endpointId(name) } as const;
    const { status, headers } = await lab.visit(tunnel, '/');
    expect(status).toBe(403);
    expect(await logged(tunnel.id)).toMatchObject([
      {
        status: 403,
        refusal: { module: 'ip_restriction', reason: expect.stringContaining('127.0.0.1') },
        errorCode: 'ERR_GATEWAY_3205',
        operationId: headers['service-operation-id'],
        upstreamMilliseconds: null,
        isComplete: true,
      },
    ]);
  });

  test('of an edge, as nobody is behind it, is there with the route, and found by the edge', async () => {
    const edge = await newEdge(lab.account, { labels: { app: newName('nobody') } });
    await visitEdge(lab.gateway, edge, '/nobody');
    const find = async (args: string) =>
      (await lab.run(`query ($id: ID) { requestLog(edgeId: $id${args}) { nodes { ${LOGGED} } } }`, edge)).nodes;
    expect(await find(', refused: true, statusClasses: [5]')).toMatchObject([
      {
        path: '/nobody',
        status: 502,
        routeId: edge.hostId,
        refusal: { module: 'gateway', reason: 'No tunnel of the backend is online right now.' },
        errorCode: 'ERR_GATEWAY_6528',
      },
    ]);
    expect(await find(', refused: false')).toEqual([]);
  });

  test('at a name that nobody serves is not logged', async () => {
    const count = (await logged(null)).length;
    expect((await lab.visit({ name: newName('nobody'), scheme: 'http', id: '' }, '/')).status).toBe(404);
    expect((await logged(null)).length).toBe(count);
  });
});

describe('the log', () => {
  test('is filtered, and read page by page over all endpoints of the account', async () => {
    const [one, other] = [await lab.tunnel(), await lab.tunnel()];
    const since = new Date().toISOString();
    for (const path of ['/f1', '/f2', '/f3']) await lab.visit(one, path);
    await lab.visit(other, '/teapot?f', { method: 'DELETE', headers: { 'user-agent': 'Finder' } });
    const all = `, from: "${since}"`;
    expect(paths(await logged(null, all))).toEqual(['/teapot?…', '/f3', '/f2', '/f1']);
    expect(paths(await logged(null, `${all}, method: "delete"`))).toEqual(['/teapot?…']);
    expect(paths(await logged(null, `${all}, status: [418]`))).toEqual(['/teapot?…']);
    expect(paths(await logged(null, `${all}, statusClasses: [2]`))).toEqual(['/f3', '/f2', '/f1']);
    expect(paths(await logged(null, `${all}, text: "FIND"`))).toEqual(['/teapot?…']);
    expect(paths(await logged(null, `${all}, text: "${one.name}/F2"`))).toEqual(['/f2']);
    expect(paths(await logged(other.id, all))).toEqual(['/teapot?…']);
    expect(await logged(null, `, from: "${new Date(Date.now() + 60_000).toISOString()}"`)).toEqual([]);
    const first = await page(null, `${all}, first: 3`);
    expect([paths(first.nodes), first.pageInfo.hasNextPage]).toEqual([['/teapot?…', '/f3', '/f2'], true]);
    const rest = await page(null, `${all}, first: 3, after: "${first.pageInfo.endCursor}"`);
    expect([paths(rest.nodes), rest.pageInfo.hasNextPage]).toEqual([['/f1'], false]);
  });

  test('is read in both directions, by cursors, of all endpoints and of each', async () => {
    const [one, other] = [await lab.tunnel(), await lab.tunnel()];
    for (const path of ['/1', '/2', '/3', '/4']) {
      await lab.visit(one, path);
      if (path < '/3') await lab.visit(other, `/o${path}`);
    }
    const members = 'edges { cursor node { id path } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
    const ofLog = (args: string) =>
      lab.run(`query ($id: ID!) { requestLog(endpointId: $id, ${args}) { ${members} } }`, { id: one.id });
    const ofEach = (args: string, ids = [one.id, other.id]) =>
      lab.run(`query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Endpoint { requests(${args}) { ${members} } } } }`, {
        ids,
      });
    // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
    const seen = ({ edges }: any) => edges.map(({ node }: any) => node.path);
    // biome-ignore lint/suspicious/noExplicitAny: likewise.
    const eachSeen = (nodes: any) => nodes.map(({ requests }: any) => seen(requests));

    const first = await ofLog('first: 2');
    expect([seen(first), first.pageInfo.hasNextPage, first.pageInfo.hasPreviousPage]).toEqual([
      ['/4', '/3'],
      true,
      false,
    ]);
    expect(first.edges.map(({ cursor }: { cursor: string }) => cursor)).toEqual([
      ...[first.pageInfo.startCursor, first.pageInfo.endCursor],
    ]);
    const second = await ofLog(`first: 2, after: "${first.pageInfo.endCursor}"`);
    expect([seen(second), second.pageInfo.hasNextPage, second.pageInfo.hasPreviousPage]).toEqual([
      ['/2', '/1'],
      false,
      true,
    ]);
    expect(seen(await ofLog(`last: 1, before: "${second.pageInfo.startCursor}"`))).toEqual(['/3']);
    const last = await ofLog('last: 3');
    expect([seen(last), last.pageInfo.hasPreviousPage]).toEqual([['/3', '/2', '/1'], true]);

    const newest = await ofEach('first: 2');
    expect(eachSeen(newest)).toEqual([
      ['/4', '/3'],
      ['/o/2', '/o/1'],
    ]);
    expect(newest[1].requests.pageInfo.hasNextPage).toBe(false);
    expect(eachSeen(await ofEach(`first: 5, after: "${newest[0].requests.pageInfo.endCursor}"`, [one.id]))).toEqual([
      ['/2', '/1'],
    ]);
    expect(eachSeen(await ofEach('last: 1'))).toEqual([['/1'], ['/o/1']]);
  });

  test('is for members too, and for no other account', async () => {
    const tunnel = await lab.tunnel();
    await lab.visit(tunnel, '/mine');
    const member = await lab.account.addOwner();
    const stranger = await lab.gateway.newAccount();
    expect(paths(await logged(tunnel.id, '', member))).toEqual(['/mine']);
    await expect(logged(tunnel.id, '', stranger)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await logged(null, '', stranger)).toEqual([]);
  });

  test('says what would be right of what it cannot be asked', async () => {
    const wrong = [', statusClasses: [6]', ', from: "yesterday"', `, text: "${'x'.repeat(201)}"`, ', after: "ep_1"'];
    for (const args of wrong) await expect(logged(null, args)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test('tells whoever watches of what is new, once', async () => {
    const tunnel = await lab.tunnel();
    await lab.visit(tunnel, '/before');
    const { gateway, account } = lab;
    const document = 'subscription ($id: ID!) { requestsLogged(endpointId: $id) { path } }';
    const stream = await subscribe(gateway.api, account.key, document, { id: tunnel.id });
    onTestFinished(() => stream.close());
    for (const path of ['/seen', '/too']) await lab.visit(tunnel, path);
    const told: string[] = [];
    while (told.length < 2) told.push(...paths((await stream.next()).data.requestsLogged));
    await lab.visit(tunnel, '/later');
    told.push(...paths((await stream.next()).data.requestsLogged));
    expect(told).toEqual(['/seen', '/too', '/later']);
  });
});

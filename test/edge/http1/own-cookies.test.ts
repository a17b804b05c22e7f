// The gateway's own cookies do not leave it: no upstream gets one of a visitor, and none can set one. Nor can any set one for a domain
// that accounts share, as browsers treat public suffixes.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, script, visit as visitHttp2 } from '../http2/support.ts';
import { startEdge as startTlsEdge, type Edge as TlsEdge } from '../tls/support.ts';
import { type Edge, startEdge, startScript, visit } from './support.ts';

const OWN = '__Host-gateway_session';
/** What those of visitors are called that are valid in a domain. */
const OF_DOMAIN = 'gateway_session';

let edge: Edge;
let tlsEdge: TlsEdge;
beforeAll(async () => {
  [edge, tlsEdge] = await Promise.all([startEdge(), startTlsEdge()]);
});
afterAll(() => Promise.all([edge.close(), tlsEdge.close()]));

/** The values that an upstream reads of a field in the bytes of a head. */
const valuesOf = (head: string, name: string) =>
  [...head.matchAll(new RegExp(`^${name}:[ \t]*(.*?)[ \t]*\r$`, 'gim'))].map(([, value]) => value);

describe('of the cookies of a request', () => {
  test.each<[string, string | undefined]>([
    [`${OWN}=secret`, undefined],
    [` \t${OWN}=secret ; ${OWN}=again`, undefined],
    [`${OWN}=secret; theme=dark`, 'theme=dark'],
    [`theme=dark; ${OWN}=secret`, 'theme=dark'],
    [`a=1;${OWN} = secret;b=2; c=${OWN}`, `a=1;b=2; c=${OWN}`],
    [`${OWN}2=kept; x${OWN}=kept`, `${OWN}2=kept; x${OWN}=kept`],
    ['theme=dark; __Host-other=1', 'theme=dark; __Host-other=1'],
    [`${OWN}.visitor=secret; a=1; ${OWN}.login0.shop=secret`, 'a=1'],
    [`${OF_DOMAIN}.visitor=secret; ${OF_DOMAIN}=kept; ${OF_DOMAIN}s=kept`, `${OF_DOMAIN}=kept; ${OF_DOMAIN}s=kept`],
  ])('"%s" an upstream gets %j', async (sent, kept) => {
    const app = await startScript();
    edge.serve('app.test', app.port);
    const visitor = await visit(edge.port);
    // In pieces, too: a head that does not come whole is read from a copy.
    for (const pieces of [1, 2]) {
      const head = `GET / HTTP/1.1\r\nHost: app.test\r\ncookie:${sent}\r\nX-Last: 1\r\n\r\n`;
      const middle = pieces === 1 ? head.length : head.indexOf('gateway');
      visitor.send(head.slice(0, middle));
      if (pieces === 2) await new Promise(setImmediate);
      visitor.send(head.slice(middle));
      const upstream = await app.next();
      await upstream.until('\r\n\r\n');
      const got = upstream.take();
      expect(valuesOf(got, 'cookie')).toEqual(kept === undefined ? [] : [kept]);
      expect(valuesOf(got, 'x-last')).toEqual(['1']);
      upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      await visitor.until('\r\n\r\n');
      visitor.take();
    }
  });

  test('those of a WebSocket that is opened are no other', async () => {
    const app = await startScript();
    edge.serve('app.test', app.port);
    const visitor = await visit(edge.port);
    const upgrade = 'Connection: Upgrade, X-Private\r\nUpgrade: websocket\r\nX-Private: 1\r\n';
    visitor.send(`GET / HTTP/1.1\r\nHost: app.test\r\n${upgrade}Cookie: ${OWN}=secret; a=1\r\n\r\n`);
    const head = await (await app.next()).until('\r\n\r\n');
    expect(valuesOf(head, 'cookie')).toEqual(['a=1']);
    expect(head).not.toContain('secret');
  });

  test('those of HTTP/2, which come in many fields, are no other', async () => {
    let head = '';
    await script(tlsEdge, (socket, request) => {
      head = request;
      socket.write('HTTP/1.1 204 No Content\r\n\r\n');
    });
    await ask(await visitHttp2(tlsEdge), { cookie: ['a=1', `${OWN}=secret`, 'b=2'] });
    expect(valuesOf(head, 'cookie')).toEqual(['a=1; b=2']);
    expect(head).not.toContain('secret');
  });
});

const SET = [
  ...[`${OWN}=evil; Path=/; Secure`, `${OWN} =evil; Path=/`, `=${OWN}=evil; Path=/`, ` \t${OWN}=`],
  ...[`${OWN}.visitor=evil`, `${OF_DOMAIN}.visitor=evil; Domain=app.test`, `=${OF_DOMAIN}.visitor.shop=evil`],
  ...['theme=dark', `${OWN}2=kept`, `a=${OWN}=b`, OWN, `${OF_DOMAIN}=kept`],
];
const KEPT = ['theme=dark', `${OWN}2=kept`, `a=${OWN}=b`, OWN, `${OF_DOMAIN}=kept`];
/** What the upstreams of other accounts would be sent, in each way in which a browser understands a domain. */
const SHARED = [
  ...['tunnel.localhost', '.tunnel.localhost', 'TUNNEL.LocalHost', ' \ttunnel.localhost ', 'localhost', '.LOCALHOST'],
  ...[
    'tunnel%2elocalhost',
    '%74unnel.localhost',
    'tunnel.localhost.',
    Buffer.from('ｔunnel.localhost').toString('latin1'),
  ],
].map((domain) => `evil=1; Path=/; Domain=${domain}; Secure`);
SET.push(...SHARED, 'evil=1;domain\t=\ttunnel.localhost', 'evil=1; Domain=app.test; dOMAIN=tunnel.localhost');
const FOR_FEWER = [
  ...['a=1; Domain=app.tunnel.localhost', 'a=1; Domain=app.test; Path=/', 'a=domain=tunnel.localhost', 'a=1; Domain='],
  ...[
    'a=1; Domains=tunnel.localhost',
    'a=1; Path=tunnel.localhost',
    'a=1; Domain',
    'domain=tunnel.localhost',
    'a=1; Domain=nel.localhost',
  ],
];
SET.push(...FOR_FEWER);
KEPT.push(...FOR_FEWER);
const ANSWER = `HTTP/1.1 200 OK\r\n${SET.map((value) => `set-Cookie: ${value}\r\n`).join('')}Content-Length: 2\r\n\r\nok`;
const BYTES = Buffer.from(ANSWER, 'latin1');

test('an upstream cannot set one', async () => {
  const app = await startScript();
  edge.serve('app.test', app.port);
  const visitor = await visit(edge.port);
  visitor.send('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
  (await app.next()).send(BYTES);
  expect(valuesOf(await visitor.until('ok'), 'set-cookie')).toEqual(KEPT);
});

test('an upstream cannot set one over HTTP/2', async () => {
  await script(tlsEdge, (socket) => void socket.write(BYTES));
  const { headers, body } = await ask(await visitHttp2(tlsEdge));
  expect(headers['set-cookie']).toEqual(KEPT);
  expect(String(body)).toBe('ok');
});

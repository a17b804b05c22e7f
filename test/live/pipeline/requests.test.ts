// Requests on their way through modules that wait for something: a body, or the keys of an issuer.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Peer, startScript } from '../../edge/http1/support.ts';
import { keyPair, signed, startIssuer } from '../../policy/actions/issuer.ts';
import { startUpstream, upload } from '../../support/events/traffic.ts';
import { shortened } from '../../support/shortened.ts';
import { visit } from '../../support/visit.ts';
import { bodyOf, type HandledLab, http2Session, onRequest, portOf, readsBodies, startLab } from './lab.ts';

let lab: HandledLab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab?.close());

/** Answers with the body that it was sent, as text; its headers say how it was framed. */
async function echo() {
  const upstream = await startUpstream(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('latin1')) body += chunk;
    const { expect: expectation = '', 'content-length': length = '', trailer = '' } = request.headers;
    const { a = '' } = request.trailers;
    response.setHeader('seen', `${request.url} expect=${expectation} length=${length} ${trailer}${a}`);
    response.end(body, 'latin1');
  });
  return portOf(upstream.url);
}

const bodies = (peer: Peer) => [...peer.text.matchAll(/\r\n\r\n<(.*?)>/gs)].map(([, body]) => body);

test('requests that are sent all at once are answered in their order, whatever each waits for', async () => {
  const key = await keyPair();
  const issuer = await startIssuer([key]);
  const { on_http_request: reads } = readsBodies;
  const token = await signed(key, { iss: issuer.url, exp: Math.floor(Date.now() / 1000) + 600, iat: undefined });
  const checks = onRequest('jwt-validation', {
    issuer: { allow_list: [{ value: issuer.url }] },
    audience: { allow_list: [{ value: 'api' }] },
    http: { tokens: [{ type: 'jwt', method: 'header', name: 'Authorization', prefix: 'Bearer ' }] },
    jws: { allowed_algorithms: ['ES256'], keys: { sources: { additional_jkus: [issuer.jwks] } } },
  });
  const host = await lab.open(await echo(), { on_http_request: [...checks.on_http_request, ...reads] });
  const visitor = await lab.visitor();
  const good = `Host: ${host}\r\nAuthorization: Bearer ${token}\r\n`;
  const plain = (n: number) => `POST /${n} HTTP/1.1\r\n${good}Content-Length: 5\r\n\r\n<${n}ab>`;
  const chunked = (n: number) =>
    `POST /${n} HTTP/1.1\r\n${good}Transfer-Encoding: chunked\r\n\r\n2\r\n<${n}\r\n3\r\ncd>\r\n0\r\n\r\n`;
  visitor.send([plain(1), chunked(2), plain(3), chunked(4), plain(5).replace(token, 'x')].join(''));
  await visitor.until('ERR_GATEWAY_3213');
  expect(bodies(visitor)).toEqual(['1ab', '2cd', '3ab', '4cd']);
  await issuer.close();
});

test.each([
  ['Content-Length', 'Content-Length: 12\r\n\r\n<0123456789>'],
  ['chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\n<0123\r\n7\r\n456789>\r\n0\r\nA: b\r\n\r\n'],
  ['odd chunks', 'Transfer-Encoding: chunked\r\n\r\n5;a=b\r\n<0123\r\n7 ;c\r\n456789>\r\n0;d\r\nA: b\r\n\r\n'],
])('a body by %s that a module reads arrives as it was, wherever it is cut', async (_, framed) => {
  const host = await lab.open(await echo(), readsBodies);
  const visitor = await lab.visitor();
  const request = `POST / HTTP/1.1\r\nHost: ${host}\r\n${framed}`;
  for (let cut = request.length - framed.length; cut <= request.length; cut++) {
    visitor.take();
    visitor.send(request.slice(0, cut));
    await new Promise(setImmediate);
    visitor.send(request.slice(cut));
    await visitor.until('>');
    expect(bodies(visitor), `cut at ${cut}`).toEqual(['0123456789']);
    if (framed.startsWith('T')) expect(visitor.text).toContain('length= b\r\n');
  }
});

test('a field that a module takes out does not come back with an underscore, which CGI reads alike', async () => {
  const script = await startScript();
  const host = await lab.open(script.port, onRequest('remove-headers', { headers: ['x-user-name'] }));
  const visitor = await lab.visitor();
  visitor.send(`GET / HTTP/1.1\r\nHost: ${host}\r\nX_User-Name: a\r\nx-user_name: b\r\nX_Other: c\r\n\r\n`);
  const upstream = await script.next();
  const head = await upstream.until('\r\n\r\n');
  expect(head).not.toMatch(/user.name/i);
  expect(head).toContain('\r\nX_Other: c\r\n');
});

test('a visitor who waits for a 100 before sending the body gets it from here, and upstream is not asked', async () => {
  const host = await lab.open(await echo(), readsBodies);
  const visitor = await lab.visitor();
  visitor.send(`POST / HTTP/1.1\r\nHost: ${host}\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n`);
  expect(await visitor.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  visitor.send('<ab>');
  await visitor.until('<ab>');
  expect(visitor.text).toContain('seen: / expect= length=4');
});

test('a visitor of HTTP/1.0 is not told 100, which it does not know', async () => {
  const host = await lab.open(await echo(), readsBodies);
  const visitor = await lab.visitor();
  visitor.send(`POST / HTTP/1.0\r\nHost: ${host}\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n<ab>`);
  expect(await visitor.untilEnd()).toMatch(/^HTTP\/1\.1 200 .*<ab>$/s);
});

test('over HTTP/2 a visitor who waits for a 100 gets it, too', async () => {
  const host = await lab.open(await echo(), readsBodies, { protocol: 'https' });
  const stream = http2Session(lab.gateway, host).request({ ':method': 'POST', expect: '100-continue' });
  await once(stream, 'continue');
  stream.end('<ab>');
  const [headers] = await once(stream, 'response');
  expect(headers.seen).toContain('expect= ');
  expect(String(await bodyOf(stream))).toBe('<ab>');
});

test('a body of more than 1 MiB that has to be checked is refused with 413', async () => {
  const upstream = await startUpstream();
  const policy = onRequest('verify-webhook', { provider: 'github', secret: 'a secret' });
  const host = await lab.open(portOf(upstream.url), policy);
  const visitor = await lab.visitor();
  visitor.send(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2000000\r\n\r\n`).send(Buffer.alloc(1_100_000));
  expect(await visitor.untilEnd()).toMatch(/^HTTP\/1\.1 413 .*ERR_GATEWAY_90127/s);
  expect(upstream.most).toBe(0);
});

test.each(
  shortened([4, 30]).flatMap((mebibytes) => [
    [mebibytes, true],
    [mebibytes, false],
  ]),
)('%i MiB that need not be checked go on whole (length stated: %s)', async (mebibytes, length) => {
  const upstream = await startUpstream();
  const host = await lab.open(portOf(upstream.url), readsBodies);
  const sums = await upload({ url: `http://${host}`, listener: lab.gateway.http }, mebibytes, length);
  expect(sums.received).toBe(sums.sent);
});

test('over HTTP/2, 3 MiB that need not be checked go on whole', async () => {
  const host = await lab.open(await echo(), readsBodies, { protocol: 'https' });
  const body = Buffer.alloc(3 * 2 ** 20, 'abcdefg');
  const stream = http2Session(lab.gateway, host).request({ ':method': 'POST' });
  stream.end(body);
  expect((await bodyOf(stream)).equals(body)).toBe(true);
});

test('a visitor who leaves while the body is waited for is forgotten, and upstream never hears of it', async () => {
  const upstream = await startUpstream((_, response) => response.end('ok'));
  const host = await lab.open(portOf(upstream.url), readsBodies);
  const before = lab.gateway.logs.length;
  const visitor = await lab.visitor();
  visitor.send(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 10\r\n\r\nhalf`);
  await new Promise(setImmediate);
  visitor.socket.resetAndDestroy();
  expect((await visit(`http://${host}/`, lab.gateway.http)).body).toBe('ok');
  expect(upstream.most).toBe(1);
  expect(lab.gateway.logs.slice(before).filter((line) => /"level":[56]0/.test(line))).toEqual([]);
});

test('an upstream that answers before it has the body ends the connection with its answer', async () => {
  const script = await startScript();
  const host = await lab.open(script.port, readsBodies);
  const visitor = await lab.visitor();
  visitor.send(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2000000\r\n\r\n`).send(Buffer.alloc(1_500_000));
  const upstream = await script.next();
  await upstream.until('\r\n\r\n');
  upstream.send('HTTP/1.1 403 No\r\nContent-Length: 6\r\n\r\nenough');
  expect(await visitor.untilEnd()).toMatch(/^HTTP\/1\.1 403 No.*Connection: close.*enough$/s);
});

test('an upgrade goes through an endpoint with a policy, and what follows it as it is', async () => {
  const script = await startScript();
  const host = await lab.open(script.port, onRequest('add-headers', { headers: { 'x-added': 'yes' } }));
  const visitor = await lab.visitor();
  visitor.send(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\nfirst`);
  const upstream = await script.next();
  const head = await upstream.until('\r\n\r\n');
  expect(head).toMatch(/Upgrade: chat\r\n.*x-added: yes\r\n.*Connection: Upgrade\r\n/s);
  upstream.send('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\nwelcome');
  await visitor.until('welcome');
  await upstream.until('first');
  visitor.send('there');
  await upstream.until('there');
  upstream.send('and back');
  await visitor.until('and back');
});

test('challenges of certificate authorities go to the service of who has reserved the name, and to no other', async () => {
  const port = await echo();
  const challenge = '/.well-known/acme-challenge/a-token-that-nobody-expects';
  const seen = async (host: string, target: string) => {
    const visitor = await lab.visitor();
    visitor.send(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const head = await visitor.until('\r\n\r\n');
    return [head.slice(9, 12), /^seen: (\S+)/im.exec(head)?.[1]];
  };
  const free = await lab.open(port, null);
  for (const target of [
    ...[challenge, `${challenge}?a=b`, '/.well-known/acme-challenge/', '/.well-known/acme-challenge/short'],
    ...['/%2ewell-known/acme-challenge/a', '/.well-known/%61cme-challenge/a', '/.well-known%2Facme-challenge/a'],
    ...['//.well-known//acme-challenge/a', '/./.well-known/acme-challenge/a', '/x/../.well-known/acme-challenge/a'],
    ...['/.Well-Known/ACME-Challenge/a', '/.well-known\\acme-challenge/a', '/.well-known/acme-challenge/%00'],
    ...[`http://${free}${challenge}`],
  ])
    expect(await seen(free.toUpperCase(), target), target).toEqual(['404', undefined]);
  for (const target of [
    '/.well-known/security.txt',
    '/x?/.well-known/acme-challenge/',
    '/acme-challenge/a',
    '/%2e%2e/a',
  ])
    expect(await seen(free, target)).toEqual(['200', target]);

  const { call } = lab.account;
  for (const domain of ['own-challenges.example.com', 'own-challenges.tunnel.localhost']) {
    expect((await call('POST', '/reserved_domains', { domain })).status).toBe(201);
    const host = await lab.open(port, null, { domain });
    expect(await seen(host, challenge)).toEqual(['200', challenge]);
  }
});

test('handshakes of certificate authorities go to the service of who has reserved the name, and to no other', async () => {
  const names: string[] = [];
  const upstream = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', (hello) => {
        names.push(hello.toString('latin1').includes('acme-tls/1') ? 'acme' : 'other');
        socket.destroy();
      });
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  onTestFinished(() => void upstream.close());
  const { port } = upstream.address() as AddressInfo;
  const reached = async (servername: string, ALPNProtocols: string[]) => {
    names.length = 0;
    const [host, tlsPort] = lab.gateway.https.split(':');
    const socket = connectTls({ host, port: Number(tlsPort), servername, ALPNProtocols, rejectUnauthorized: false });
    await new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
    return [...names];
  };
  const free = await lab.open(port, null, { protocol: 'tls' });
  expect(await reached(free, ['acme-tls/1'])).toEqual([]);
  expect(await reached(free, ['h2', 'acme-tls/1'])).toEqual([]);
  expect(await reached(free, ['h2'])).toEqual(['other']);
  const domain = 'own-handshakes.example.com';
  expect((await lab.account.call('POST', '/reserved_domains', { domain })).status).toBe(201);
  const own = await lab.open(port, null, { protocol: 'tls', domain });
  expect(await reached(own, ['acme-tls/1'])).toEqual(['acme']);
});

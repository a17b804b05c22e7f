// Captured requests, sent once more: what reaches the service, what comes of it, and why some are not sent.

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Replays } from '../../../src/capture/replay.ts';
import { http2Visitor, newName } from '../../live/edges/support.ts';
import { type CaptureLab, captureOperation, startCaptureLab } from './lab.ts';

type Tunnel = Awaited<ReturnType<CaptureLab['tunnel']>>;

let lab: CaptureLab;
let tunnel: Tunnel;
beforeAll(async () => {
  lab = await startCaptureLab();
  tunnel = await lab.tunnel();
  await lab.start(tunnel.id, { bodyBytes: 1000 });
});
afterAll(() => lab?.close());

/** Visits, and forgets what the service was asked. @returns the captured request. */
async function capturedVisit(...args: Parameters<CaptureLab['visit']>) {
  await lab.visit(...args);
  const [request] = await lab.requests(args[0].id);
  lab.asked.length = 0;
  return request;
}

/** The fields of a message as lines, in order. */
function lines(headers: string[]): string[] {
  return Array.from({ length: headers.length / 2 }, (_, i) => `${headers[2 * i]}: ${headers[2 * i + 1]}`);
}

describe('a replay', () => {
  test('is the same to the service, and nothing tells that it is one', async () => {
    const headers = {
      'X-A': '1',
      authorization: 'Bearer of the visitor',
      'x-forwarded-for': '1.2.3.4',
      te: 'trailers',
    };
    await lab.visit(tunnel, '/again?q=%20', { method: 'PUT', body: 'the body', headers });
    const [first] = lab.asked.splice(0);
    const [request] = await lab.requests(tunnel.id);
    const replay = await lab.replay(request.id);
    expect(replay).toMatchObject({
      status: 200,
      headers: expect.arrayContaining([{ name: 'Content-Type', value: 'text/plain', isRedacted: false }]),
      body: { bytes: 7, keptBytes: 7, isWhole: true, text: 'hello 8' },
      captured: {
        replayOf: request.id,
        path: '/again?q=%20',
        status: 200,
        clientIp: '127.0.0.1',
        httpVersion: 'HTTP/1.1',
      },
    });
    expect(replay.durationMilliseconds).toBeGreaterThan(0);
    const [second] = lab.asked;
    expect(second).toMatchObject({ method: 'PUT', url: '/again?q=%20', body: Buffer.from('the body') });
    // What is of one hop, or of one connection, may differ.
    const kept = (headers: string[] = []) =>
      lines(headers).filter((line) => !/^(?:te|connection|content-length):/i.test(line));
    expect(kept(second?.headers).sort()).toEqual(kept(first?.headers).sort());
    expect((await lab.requests(tunnel.id))[0]).toMatchObject({ id: replay.captured.id, replayOf: request.id });
  });

  test('of a request of HTTP/2 over TLS goes over TLS, too', async () => {
    const secure = await lab.tunnel('https');
    await lab.start(secure.id, { bodyBytes: 1000 });
    const ask = await http2Visitor(lab.gateway, secure);
    await ask('/h2', { cookie: 'a=1', 'x-b': '2' }, 'sent');
    const [request] = await lab.requests(secure.id);
    expect(request).toMatchObject({ httpVersion: 'HTTP/2.0', isTls: true });
    lab.asked.length = 0;
    expect(await lab.replay(request.id)).toMatchObject({
      status: 200,
      captured: { isTls: true, httpVersion: 'HTTP/1.1', url: `https://${secure.name}/h2`, replayOf: request.id },
    });
    expect(lab.asked[0]).toMatchObject({ method: 'POST', body: Buffer.from('sent') });
    expect(lab.asked[0]?.headers).toContain('a=1');
  });

  test('may be edited: a value that is null is what was captured', async () => {
    const request = await capturedVisit(tunnel, '/before', {
      method: 'POST',
      body: 'old',
      headers: { cookie: 'kept', 'x-gone': '1', 'x-changed': '1' },
    });
    const edits = {
      method: 'PATCH',
      path: '/after?x=1',
      headers: [{ name: 'Cookie' }, { name: 'X-Changed', value: '2' }, { name: 'X-New', value: '' }, { name: 'Host' }],
      bodyBase64: Buffer.from('a new body').toString('base64'),
    };
    expect(await lab.replay(request.id, edits)).toMatchObject({ status: 200, body: { text: 'hello 10' } });
    const [asked] = lab.asked;
    expect(asked).toMatchObject({ method: 'PATCH', url: '/after?x=1', body: Buffer.from('a new body') });
    const sent = lines(asked?.headers ?? []);
    for (const line of ['Cookie: kept', 'X-Changed: 2', 'X-New: ', `host: ${tunnel.name}`])
      expect(sent).toContain(line);
    expect(sent.join('\n')).not.toMatch(/x-gone/i);
  });

  test('passes the modules as a visitor does', async () => {
    const name = newName('guarded');
    await lab.session
      .httpEndpoint()
      .scheme('http')
      .domain(name)
      .basicAuth('jo', 'a password')
      .listenAndForward(lab.upstream);
    const guarded = { name, scheme: 'http' as const, id: await lab.endpointId(name) };
    await lab.start(guarded.id);
    const authorization = `Basic ${Buffer.from('jo:a password').toString('base64')}`;
    const request = await capturedVisit(guarded, '/in', { headers: { authorization } });
    expect(await lab.replay(request.id)).toMatchObject({ status: 200, captured: { refusal: null } });
    expect(await lab.replay(request.id, { headers: [] })).toMatchObject({
      status: 401,
      captured: { refusal: { module: 'basic_auth' }, replayOf: request.id },
    });
  });

  test('of an answer that is too long has its first MiB', async () => {
    const request = await capturedVisit(tunnel, '/large');
    const { body, captured } = await lab.replay(request.id);
    expect(body).toMatchObject({ keptBytes: 1024 * 1024, isWhole: false });
    expect(captured).toMatchObject({ path: '/large', replayOf: request.id });
  });

  test('goes on while captures are off, of what is still kept', async () => {
    const off = await lab.tunnel();
    await lab.start(off.id);
    const request = await capturedVisit(off, '/off');
    await lab.run(captureOperation('stopTrafficCapture'), { id: off.id });
    expect(await lab.replay(request.id)).toMatchObject({ status: 200, captured: null });
  });

  test('keeps nobody waiting, and an account has eight under way at most', async () => {
    const request = await capturedVisit(tunnel, '/held');
    let release = () => {};
    lab.held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const underWay = Array.from({ length: 8 }, () => lab.replay(request.id));
    while (lab.asked.length < 8) await new Promise(setImmediate);
    await expect(lab.replay(request.id)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      errorCode: 'ERR_GATEWAY_90246',
    });
    expect(await lab.account.call('POST', '/credentials', {})).toMatchObject({ status: 201 });
    release();
    expect(await Promise.all(underWay)).toEqual(underWay.map(() => expect.objectContaining({ status: 200 })));
    expect(await lab.replay(request.id)).toMatchObject({ status: 200 });
  });
});

describe('why one is not sent, or fails', () => {
  test('its body was not kept whole, and none is given', async () => {
    const request = await capturedVisit(tunnel, '/long', { method: 'POST', body: 'x'.repeat(1001) });
    await expect(lab.replay(request.id)).rejects.toMatchObject({ code: 'CONFLICT', errorCode: 'ERR_GATEWAY_90236' });
    expect(lab.asked).toEqual([]);
    expect(await lab.replay(request.id, { bodyBase64: '' })).toMatchObject({ status: 200, body: { text: 'hello 0' } });
  });

  test.each([
    [{ method: 'CONNECT' }, 90239, 'method'],
    [{ method: 'A B' }, 90239, 'method'],
    [{ path: 'relative' }, 90240, 'path'],
    [{ path: '/a b' }, 90240, 'path'],
    [{ path: '/a\r\nX: 1' }, 90240, 'path'],
    [{ path: 'http://other.test/' }, 90240, 'path'],
    [{ headers: Array(201).fill({ name: 'a', value: '' }) }, 90241, 'headers'],
    [{ headers: [{ name: 'a:b', value: '1' }] }, 90242, 'headers[0]'],
    [{ headers: [{ name: 'a', value: '1\r\nb: 2' }] }, 90242, 'headers[0]'],
    [{ headers: [{ name: 'x-never' }] }, 90243, 'headers[0]'],
    [{ headers: [{ name: 'Host', value: 'other.test' }] }, 90244, 'headers[0]'],
    [{ bodyBase64: 'a?' }, 90245, 'bodyBase64'],
  ])('%j is refused', async (input, number, field) => {
    const request = await capturedVisit(tunnel, '/edited');
    const errorCode = `ERR_GATEWAY_${number}`;
    await expect(lab.replay(request.id, input)).rejects.toMatchObject({ errorCode, field, code: 'BAD_USER_INPUT' });
    expect(lab.asked).toEqual([]);
  });

  test('a connection that went over to another protocol', async () => {
    const { captures } = lab.gateway.app.nodeCaptures();
    const [host, port] = lab.gateway.http.split(':');
    const echo = connect({ host, port: Number(port) });
    echo.write(`GET /up HTTP/1.1\r\nHost: ${tunnel.name}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
    const seen = new Promise<void>((resolve) => {
      const stop = captures.listen({ accountId: lab.account.accountId, address: `http:${tunnel.name}` }, () => {
        stop();
        resolve();
      });
    });
    echo.once('data', () => echo.destroy());
    await seen;
    const [request] = await lab.requests(tunnel.id);
    expect(request).toMatchObject({ path: '/up', status: 101 });
    await expect(lab.replay(request.id)).rejects.toMatchObject({ code: 'CONFLICT', errorCode: 'ERR_GATEWAY_90237' });
  });

  test('the endpoint is gone: its name may be somebody else’s', async () => {
    const name = newName('gone');
    const listener = await lab.session.httpEndpoint().scheme('http').domain(name).listenAndForward(lab.upstream);
    const gone = { name, scheme: 'http' as const, id: await lab.endpointId(name) };
    await lab.start(gone.id);
    const request = await capturedVisit(gone, '/gone');
    await listener.close();
    await expect.poll(() => lab.gateway.app.nodeCaptures().captures.endpoint(gone.id)).toBeUndefined();
    await expect(lab.replay(request.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(lab.asked).toEqual([]);
  });

  test('visitors show a certificate', async () => {
    const name = newName('mutual');
    const listener = lab.session.httpEndpoint().domain(name);
    await listener.mutualTlsca(Buffer.from(lab.gateway.ca)).listenAndForward(lab.upstream);
    const id = await lab.endpointId(name);
    const { captures, replays } = lab.gateway.app.nodeCaptures();
    const request = await capturedVisit(tunnel, '/as-if');
    const captured = captures.get(request.id);
    if (!captured) throw new Error('it is gone');
    expect(await replays.send({ ...captured, isTls: true, endpointId: id }, {})).toEqual({
      failed: 'clientCertificate',
    });
  });

  test('no answer comes in time, or none at all', async () => {
    const { captures } = lab.gateway.app.nodeCaptures();
    const [address = '', port] = lab.gateway.http.split(':');
    const at = (port: number) => ({ http: { address, port }, https: { address, port } });
    const request = await capturedVisit(tunnel, '/held');
    const captured = captures.get(request.id);
    if (!captured) throw new Error('it is gone');
    let release = () => {};
    lab.held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hasty = new Replays({ captures, listeners: at(Number(port)), timeoutMs: 50 });
    expect(await hasty.send(captured, {})).toEqual({ failed: 'timeout' });
    release();
    const lost = new Replays({ captures, listeners: at(1) });
    expect(await lost.send(captured, {})).toEqual({
      failed: 'noAnswer',
      reason: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

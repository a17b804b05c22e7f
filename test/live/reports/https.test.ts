// What is told of requests of HTTP/1 inside TLS.

import { connect } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Peer, startScript } from '../../edge/http1/support.ts';
import { type Edge, startEdge } from '../../edge/tls/support.ts';
import { newIssuer } from '../../support/issuer.ts';
import { Hearer, handle, visitsFor } from './lab.ts';

const NAME = 'app.tunnel.localhost';
const HEAD = `GET / HTTP/1.1\r\nHost: ${NAME}\r\n`;
let edge: Edge;
const hearer = new Hearer();

beforeAll(async () => {
  edge = await startEdge({ visits: visitsFor(hearer) });
});
afterAll(() => edge.close());

/** An endpoint, and the upstream that its first request comes to. */
async function serve() {
  const script = await startScript();
  const endpoint = edge.serve(NAME, script.port);
  onTestFinished(() => edge.endpoints.remove(endpoint));
  return { endpoint, next: script.next };
}

test('has the certificate that a visitor showed, also of one who left', async () => {
  const { endpoint } = await serve();
  const issuer = await newIssuer('CN=Devices');
  const identity = await issuer.issue({ subject: 'CN=device 7', serialNumber: '4D' });
  const terms = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', clientAuthorities: [issuer.cert] } as const;
  const { rules } = handle(endpoint, {});
  Object.assign(endpoint, { rules: { ...rules, tls: terms } });
  const raw = connect(edge.port, '127.0.0.1').on('error', () => {});
  const socket = await edge.visit(NAME, { ...identity, socket: raw });
  socket.write(`${HEAD}\r\n`);
  while (edge.agent.sockets.length === 0) await new Promise(setImmediate);
  raw.resetAndDestroy();
  const { tls, response } = await hearer.one();
  expect(tls).toEqual({
    version: 'TLSv1.2',
    cipherSuite: expect.stringMatching(/^TLS_ECDHE_/),
    clientCertificate: { serialNumber: '4d', commonName: 'device 7' },
  });
  expect(response).toBeUndefined();
});

test('and upgraded: what is in the TLS counts', async () => {
  const { next } = await serve();
  const visitor = new Peer(await edge.visit(NAME));
  visitor.send(`${HEAD}Connection: Upgrade\r\nUpgrade: echo\r\n\r\nearly`);
  const upstream = await next();
  await upstream.until('\r\n\r\n');
  upstream.send('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello');
  await visitor.until('hello');
  visitor.send(Buffer.alloc(100_000, 'x'));
  await upstream.until((text) => text.endsWith('x') && text.split('\r\n\r\n')[1]?.length === 100_005);
  upstream.socket.end();
  visitor.socket.end();
  const { request, response } = await hearer.one();
  expect(request.bodyLength).toBe(100_005);
  expect(response).toMatchObject({ status: 101, bodyLength: 5, isComplete: true });
});

// Who ends the TLS of visitors to an edge, and from which version on.

import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listen } from '../../edge/sockets.ts';
import { type Identity, type Issuer, newIssuer } from '../../support/issuer.ts';
import { askOn, closed, type Edge, startTlsLab, type TlsLab } from '../tls-lab.ts';

const NAME = 'passed.tls-edge.tunnel.localhost';

let lab: TlsLab;
let issuer: Issuer;
let edge: Edge;
/** Speaks TLS itself, and answers with what it has seen of the visitor's. */
const secure = createServer((socket) => {
  socket
    .on('error', () => {})
    .on('data', () => {
      const { servername, alpnProtocol } = socket as { servername?: string; alpnProtocol?: string | false };
      const body = JSON.stringify({ version: socket.getProtocol(), servername, alpn: alpnProtocol || '' });
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
});

beforeAll(async () => {
  lab = await startTlsLab();
  issuer = await newIssuer('CN=Behind the edge');
  secure.setSecureContext(await issuer.issue({ dns: [NAME], purpose: 'server' }));
  const url = `tcp://127.0.0.1:${await listen(secure)}`;
  await lab.session.labeledListener().label('app', 'secure').listenAndForward(url);
  edge = await lab.edge('tls', NAME);
  const backend = await lab.account.call('POST', '/backends/tunnel_group', { labels: { app: 'secure' } });
  await edge.set('backend', { backend_id: backend.body.id });
});
afterAll(async () => {
  secure.close();
  await lab?.close();
});

test('the labelled tunnel of the field’s SDK is visited through an HTTPS edge and a TLS edge', async () => {
  const names = { https: 'https.tls-edge.tunnel.localhost', tls: 'tls.tls-edge.tunnel.localhost' };
  await lab.edge('https', names.https);
  await (await lab.edge('tls', names.tls)).set('tls_termination', { terminate_at: 'edge' });
  expect(await lab.come(names.https)).toMatchObject({ status: 200, seen: { host: names.https } });
  expect(await lab.comeByHttp2(names.https)).toMatchObject({ status: 200 });
  expect(await lab.come(names.tls)).toMatchObject({ status: 200, seen: { host: names.tls } });
});

describe('a TLS edge passes TLS through, and upstream sees the visitor’s', () => {
  test.each([
    ['without a module', () => edge.unset('tls_termination')],
    ['where the module says so', () => edge.set('tls_termination', { terminate_at: 'upstream', min_version: '1.3' })],
    ['where the module is off', () => edge.set('tls_termination', { enabled: false, terminate_at: 'edge' })],
  ])('%s', async (_, set) => {
    await set();
    const options = { ca: issuer.cert, maxVersion: 'TLSv1.2' } as const;
    expect(await lab.come(NAME, options)).toMatchObject({ seen: { version: 'TLSv1.2', servername: NAME } });
    expect(await lab.come(NAME, { ca: issuer.cert })).toMatchObject({ seen: { version: 'TLSv1.3' } });
    // The certificate is upstream's, not the gateway's.
    expect(await lab.come(NAME)).toMatchObject({ status: undefined, isSecure: false });
  });
});

test('a visitor whose TLS went through is cut off when the edge is to end it', async () => {
  await edge.unset('tls_termination');
  const socket = await lab.connect(NAME, { ca: issuer.cert });
  expect(await askOn(socket, NAME)).toMatchObject({ status: 200 });
  await edge.set('tls_termination', { terminate_at: 'edge' });
  await closed(socket);
  const { authorizationError } = await lab.connect(NAME, { ca: issuer.cert, rejectUnauthorized: false });
  expect(authorizationError).toBeTruthy();
  await expect(lab.connect(NAME)).resolves.toBeDefined();
});

describe.each(['https', 'tls'] as const)('with a least version of TLS 1.3, an edge of the kind %s', (kind) => {
  const name = `least-${kind}.tls-edge.tunnel.localhost`;
  const old = { maxVersion: 'TLSv1.2' } as const;
  let least: Edge;
  beforeAll(async () => {
    least = await lab.edge(kind, name);
  });

  test('turns away who speaks TLS 1.2, in the handshake; others not, nor with 1.2, nor without the module', async () => {
    await least.set('tls_termination', { terminate_at: 'edge', min_version: '1.3' });
    const { asked } = lab.upstream;
    expect(await lab.come(name, old)).toMatchObject({
      isSecure: false,
      error: expect.any(String),
    });
    expect(lab.upstream.asked).toBe(asked);
    expect(await lab.come(name)).toMatchObject({ status: 200 });
    await least.set('tls_termination', { terminate_at: 'edge', min_version: '1.2' });
    expect(await lab.come(name, old)).toMatchObject({ status: 200 });
    if (kind === 'tls') return;
    await least.unset('tls_termination');
    expect(await lab.come(name, old)).toMatchObject({ status: 200 });
  });

  test('cuts off who came with an older version before', async () => {
    await least.set('tls_termination', { terminate_at: 'edge', min_version: '1.2' });
    const socket = await lab.connect(name, old);
    expect(await askOn(socket, name)).toMatchObject({ status: 200 });
    await least.set('tls_termination', { terminate_at: 'edge', min_version: '1.3' });
    await closed(socket);
  });
});

describe.each(['edge', 'tunnel'] as const)('the policy action terminate-tls, on a TLS %s', (which) => {
  const name = `policy-${which}.tls-edge.tunnel.localhost`;
  let devices: Issuer;
  let server: Identity;
  beforeAll(async () => {
    devices = await newIssuer('CN=Devices');
    server = await issuer.issue({ subject: `CN=${name}`, dns: [name], purpose: 'server' });
    const config = {
      server_certificate: server.cert,
      server_private_key: server.key,
      mutual_tls_certificate_authorities: [devices.cert],
      mutual_tls_verification_strategy: 'require-and-verify',
    };
    const banned = "conn.tls.client.subject.common_name == 'banned'";
    const value = JSON.stringify({
      on_tcp_connect: [
        { actions: [{ type: 'terminate-tls', config }] },
        { expressions: [banned], actions: [{ type: 'deny' }] },
      ],
    });
    const { session, upstream } = lab;
    if (which === 'edge') await (await lab.edge('tls', name)).set('traffic_policy', { value });
    else await session.tlsEndpoint().domain(name).trafficPolicy(value).listenAndForward(`tcp://${upstream.address}`);
  });
  const come = (identity?: Identity) => lab.come(name, { ...identity, ca: issuer.cert });

  test('shows the certificate of the policy, and upstream gets what is in the TLS', async () => {
    expect(await come(await devices.issue())).toMatchObject({ status: 200, seen: { host: name } });
    expect(await lab.come(name, await devices.issue())).toMatchObject({ status: undefined, isSecure: false });
  });

  test('lets in only whom its authorities vouch for', async () => {
    const { connections } = lab.upstream;
    expect(await come()).toMatchObject({ status: undefined });
    expect(await come(await (await newIssuer('CN=Devices')).issue())).toMatchObject({ status: undefined });
    expect(lab.upstream.connections).toBe(connections);
  });

  test('tells later rules whom the certificate names: they may turn somebody away', async () => {
    const { connections } = lab.upstream;
    expect(await come(await devices.issue({ subject: 'CN=banned' }))).toMatchObject({ status: undefined });
    expect(lab.upstream.connections).toBe(connections);
    expect(await come(await devices.issue({ subject: 'CN=welcome' }))).toMatchObject({ status: 200 });
  });
});

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientHello, closed, listen, readAll } from '../sockets.ts';
import { type Edge, startEdge } from './support.ts';

let edge: Edge;
/** Says everything back, ends when its visitor does. */
let echo: Server;
let echoPort: number;
const servers: Server[] = [];

beforeAll(async () => {
  edge = await startEdge({
    whereabouts: {
      'away.example.com': 'offline',
      'any.wild.example.org': 'covered',
      'made.up.wild.example.org': 'beneath',
    },
  });
  echo = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  echoPort = await listen(echo);
  servers.push(echo);
});
afterAll(async () => {
  await edge.close();
  for (const server of servers) server.close();
});

/** What a refused visitor is told. */
async function refusal(servername: string | undefined, options = {}): Promise<string> {
  return edge.visit(servername, options).then(
    (socket) => {
      socket.destroy();
      return 'accepted';
    },
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
}

describe('TLS that goes through', () => {
  test('the visitor speaks with the upstream itself, and sees its certificate', async () => {
    const own = await edge.certificates.agentListener(['pass.example.com']);
    const inside = createTlsServer(own, (socket) => socket.pipe(socket));
    servers.push(inside);
    edge.serve('pass.example.com', await listen(inside), { proto: 'tls', tls: 'passthrough' });
    const visitor = await edge.visit('pass.example.com');
    expect(visitor.getPeerX509Certificate()?.fingerprint).toBe(new X509Certificate(own.cert).fingerprint);
    expect(visitor.authorized).toBe(true);
    visitor.end('through and back');
    expect(String(await readAll(visitor))).toBe('through and back');
    expect(edge.agent.headers.at(-1)).toMatchObject({ proto: 'tls', edgeType: '2', passthrough: true });
    expect(edge.agent.headers.at(-1)?.clientAddress).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  test('not a byte is changed, however the first ones are cut', async () => {
    const received: Promise<Buffer>[] = [];
    const upstream = createServer((socket) => received.push(readAll(socket)));
    servers.push(upstream);
    edge.serve('bytes.example.com', await listen(upstream), { proto: 'tls', tls: 'passthrough' });
    const hello = await clientHello('bytes.example.com');
    const rest = Buffer.from('and then anything, as nobody here reads it');
    for (const cut of [1, 5, 6, 43, hello.length - 1, hello.length]) {
      const visitor = connect({ port: edge.port, host: '127.0.0.1', noDelay: true });
      const arrived = once(upstream, 'connection');
      visitor.write(hello.subarray(0, cut));
      await edge.certificates.secureContext('pass.tunnel.localhost'); // Lets the first piece arrive by itself.
      visitor.end(Buffer.concat([hello.subarray(cut), rest]));
      await arrived;
      expect(await received.at(-1)).toEqual(Buffer.concat([hello, rest]));
      await closed(visitor.resume());
    }
  });
});

describe('TLS that ends here', () => {
  test('the upstream gets what was inside, with a certificate of the gateway', async () => {
    edge.serve('inside.example.com', echoPort, { proto: 'tls', tls: 'gateway' });
    const visitor = await edge.visit('inside.example.com');
    expect(visitor.getPeerCertificate().subjectaltname).toBe('DNS:inside.example.com');
    visitor.end('plain');
    expect(String(await readAll(visitor))).toBe('plain');
    expect(edge.agent.headers.at(-1)).toMatchObject({ proto: 'tls', passthrough: false });
  });

  test('with the certificate that the agent brought', async () => {
    const own = await edge.certificates.agentListener(['own.example.com', 'of.the.agent']);
    edge.serve('own.example.com', echoPort, { proto: 'tls', tls: { certificate: own.cert, key: own.key } });
    const visitor = await edge.visit('own.example.com');
    expect(visitor.getPeerCertificate().subjectaltname).toBe('DNS:own.example.com, DNS:of.the.agent');
    visitor.end('plain');
    expect(String(await readAll(visitor))).toBe('plain');
  });

  test('the upstream’s end does not end the visitor’s half, nor the other way round', async () => {
    let upstream: Socket | undefined;
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      upstream = socket;
    });
    servers.push(server);
    edge.serve('half.example.com', await listen(server), { proto: 'tls', tls: 'gateway' });
    const visitor = await edge.visit('half.example.com', { allowHalfOpen: true } as object);
    visitor.write('first');
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.end('I am done');
    expect(String(await readAll(visitor))).toBe('I am done');
    const rest = readAll(socket);
    visitor.end(', I am not');
    expect(String(await rest)).toBe('first, I am not');
    expect(upstream).toBe(socket);
  });

  test('a break of the upstream is a RST for the visitor, and no end', async () => {
    const server = createServer((socket) => {
      socket.write('half of an ans');
      socket.on('data', () => socket.resetAndDestroy());
    });
    servers.push(server);
    edge.serve('broken.example.com', await listen(server), { proto: 'tls', tls: 'gateway' });
    const visitor = await edge.visit('broken.example.com');
    await once(visitor, 'data');
    const error = once(visitor, 'error');
    visitor.write('break');
    visitor.on('end', () => expect.fail('a clean end'));
    expect((await error)[0]).toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('names', () => {
  test('a wildcard serves what is below it, and an exact name comes first', async () => {
    edge.serve('*.wild.example.com', echoPort, { proto: 'tls', tls: 'gateway' });
    edge.serve('exact.wild.example.com', echoPort, { proto: 'tls', tls: 'gateway' });
    const below = await edge.visit('a.wild.example.com');
    expect(below.getPeerCertificate().subjectaltname).toBe('DNS:*.wild.example.com');
    const exact = await edge.visit('exact.wild.example.com');
    expect(exact.getPeerCertificate().subjectaltname).toBe('DNS:exact.wild.example.com');
    below.destroy();
    exact.destroy();
  });

  test('case does not matter', async () => {
    edge.serve('case.example.com', echoPort, { proto: 'tls', tls: 'gateway' });
    const visitor = await edge.visit('CASE.Example.com');
    visitor.end('same');
    expect(String(await readAll(visitor))).toBe('same');
  });

  test('a name that nobody has is refused, as are names that none can have', async () => {
    expect(await refusal('unknown.example.com')).toBe('ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
    expect(await refusal('under_score.example.com')).toBe('ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
    expect(await refusal('a..example.com')).toBe('ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
  });

  test('one that is somebody’s is not: it is said over TLS what is wrong', async () => {
    const visitor = await edge.visit('away.example.com');
    visitor.end('GET / HTTP/1.1\r\nHost: away.example.com\r\nConnection: close\r\n\r\n');
    expect(String(await readAll(visitor))).toMatch(/^HTTP\/1\.1 502 .*ERR_GATEWAY_90100/s);
  });

  test('has one certificate for all names that a wildcard covers, and none for names that visitors make up below', async () => {
    const visitor = await edge.visit('any.wild.example.org');
    expect(visitor.getPeerCertificate().subjectaltname).toBe('DNS:*.wild.example.org');
    visitor.end('GET / HTTP/1.1\r\nHost: any.wild.example.org\r\nConnection: close\r\n\r\n');
    expect(String(await readAll(visitor))).toMatch(/^HTTP\/1\.1 502 .*ERR_GATEWAY_90100/s);
    expect(await refusal('made.up.wild.example.org', {})).toMatch(/UNRECOGNIZED_NAME/);
  });
});

describe('what is not let in', () => {
  test('TLS 1.1', async () => {
    const options = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    expect(await refusal('app.tunnel.localhost', options)).toMatch(/PROTOCOL_VERSION/);
    expect(await refusal('app.tunnel.localhost', { maxVersion: 'TLSv1.2' })).toBe('accepted');
  });

  test('a protocol that nobody speaks here', async () => {
    expect(await refusal('app.tunnel.localhost', { ALPNProtocols: ['smtp'] })).toMatch(/NO_APPLICATION_PROTOCOL/);
  });

  test('something else than TLS', async () => {
    const visitor = connect(edge.port, '127.0.0.1');
    visitor.end('GET / HTTP/1.1\r\nHost: app.tunnel.localhost\r\n\r\n');
    expect(String(await readAll(visitor))).toBe('');
  });

  test('one connection more than there may be, while all others are in use', async () => {
    const small = await startEdge({ settings: { maxVisitors: 2 } });
    const upstream = createServer((socket) => void socket.on('error', () => {}));
    small.serve('b.tunnel.localhost', await listen(upstream), { proto: 'tls' });
    const visitors = [await small.visit('b.tunnel.localhost'), await small.visit('b.tunnel.localhost')];
    while (small.agent.sockets.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    await expect(small.visit('b.tunnel.localhost')).rejects.toMatchObject({ code: 'ECONNRESET' });
    visitors[0]?.destroy();
    await small.empty(1); // The place is free when the gateway knows it too.
    visitors.push(await small.visit('c.tunnel.localhost'));
    await small.close();
    upstream.close();
  });
});

// Sessions of TLS that are offered again: only for the name that they were agreed for.

import { createServer } from 'node:net';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readFirstBytes } from '../../../src/edge/tls/first-bytes.ts';
import { ParameterizedHandshakes } from '../../../src/edge/tls/tls-parameters.ts';
import { type Identity, newIssuer } from '../../support/issuer.ts';
import { sessionOf } from '../../support/tls-session.ts';
import { listen } from '../sockets.ts';
import { type Edge, startEdge } from './support.ts';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

/** Makes a name lead somewhere: nobody is there. */
function serve(name: string): void {
  const endpoint = edge.serve(name, 1);
  onTestFinished(() => edge.endpoints.remove(endpoint));
}

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('%s', (version) => {
  const terms = { minVersion: version, maxVersion: version };

  test('a session is resumed under its own name, and under no other', async () => {
    for (const name of ['a', 'b']) serve(`${name}.tunnel.localhost`);
    const first = await edge.visit('a.tunnel.localhost', terms);
    const session = await sessionOf(first);
    expect(first.isSessionReused()).toBe(false);
    first.destroy();
    const seen = [];
    for (const name of ['a.tunnel.localhost', 'b.tunnel.localhost', undefined]) {
      const again = await edge.visit(name, { ...terms, session, checkServerIdentity: () => undefined });
      seen.push(again.isSessionReused());
      again.destroy();
    }
    expect(seen).toEqual([true, false, false]);
  });

  test('nor is one of a visitor who named nobody', async () => {
    serve('a.tunnel.localhost');
    const first = await edge.visit(undefined, { ...terms, checkServerIdentity: () => undefined });
    const session = await sessionOf(first);
    first.destroy();
    const again = await edge.visit('a.tunnel.localhost', { ...terms, session });
    expect(again.isSessionReused()).toBe(false);
    again.destroy();
  });
});

test.each([
  'ECDHE-ECDSA-AES128-SHA256',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-RSA-AES128-SHA256',
  'AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES128-CCM8',
  'ECDHE-ECDSA-AES128-CCM',
])('the cipher suite %s is not spoken', async (ciphers) => {
  const reason = edge.visit('a.tunnel.localhost', { ciphers: `${ciphers}:@SECLEVEL=0`, maxVersion: 'TLSv1.2' });
  await expect(reason).rejects.toThrow(/handshake failure|no cipher/i);
});

test.each(['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'])('%s is', async (ciphers) => {
  const socket = await edge.visit('a.tunnel.localhost', { ciphers, maxVersion: 'TLSv1.2' });
  expect(socket.getCipher().name).toBe(ciphers);
  socket.destroy();
});

describe('of several processes', () => {
  const ticketSecret = Buffer.alloc(32, 7);
  let at = Date.UTC(2026, 10, 27, 12);
  let one: Edge;
  let other: Edge;
  beforeAll(async () => {
    const options = { ticketSecret, time: () => at };
    [one, other] = await Promise.all([startEdge(options), startEdge(options)]);
    for (const process of [one, other]) for (const name of ['a', 'b']) process.serve(`${name}.tunnel.localhost`, 1);
  });
  afterAll(() => Promise.all([one.close(), other.close()]));

  /** Whether each of them resumes the session that was agreed on with the first. */
  const resumed = async (session: Buffer, terms: object, name = 'a.tunnel.localhost') => {
    const seen = [];
    for (const process of [one, other]) {
      const again = await process.visit(name, { ...terms, session, checkServerIdentity: () => undefined });
      seen.push(again.isSessionReused());
      again.destroy();
    }
    return seen;
  };

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'each resumes what another has agreed on, of the same name and day: %s',
    async (version) => {
      const terms = { minVersion: version, maxVersion: version };
      const first = await one.visit('a.tunnel.localhost', terms);
      const session = await sessionOf(first);
      first.destroy();
      expect(await resumed(session, terms)).toEqual([true, true]);
      expect(await resumed(session, terms, 'b.tunnel.localhost')).toEqual([false, false]);
      at += 86_400_000;
      expect(await resumed(session, terms)).toEqual([false, false]);
    },
  );

  test('no session leads past a certificate that the visitor has to show', async () => {
    const { ca, tls } = { ca: (await newIssuer('CN=of visitors')).cert, tls: { minVersion: 'TLSv1.2' as const } };
    const first = await one.visit('a.tunnel.localhost', { maxVersion: 'TLSv1.2' });
    const session = await sessionOf(first);
    first.destroy();
    const mutual = {
      ...tls,
      maxVersion: 'TLSv1.3' as const,
      clientAuthorities: [ca],
      clientVerification: 'require-and-verify' as const,
    };
    const onTerms = new ParameterizedHandshakes();
    const shown = (await other.certificates.identity('a.tunnel.localhost', 'a.tunnel.localhost')) as Identity;
    let admitted = 0;
    const server = createServer((raw) => {
      raw.on('error', () => {});
      readFirstBytes(raw, (_, bytes) => {
        onTerms.begin(
          raw,
          bytes,
          { name: 'a.tunnel.localhost', shown, parameters: mutual, alpn: undefined },
          (socket) => {
            admitted++;
            socket.destroy();
          },
        );
      });
    });
    const port = await listen(server);
    const to = { host: '127.0.0.1', port, servername: 'a.tunnel.localhost', rejectUnauthorized: false, session };
    const socket = connect({ ...to, maxVersion: 'TLSv1.2' }).on('error', () => {});
    await new Promise((resolve) => socket.on('close', resolve));
    expect(admitted).toBe(0);
    server.close();
  });
});

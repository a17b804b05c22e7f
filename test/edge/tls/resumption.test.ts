// Sessions of TLS that are offered again: only for the name that they were agreed for.

import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
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

/** A session that may be offered again. */
async function sessionOf(socket: TLSSocket): Promise<Buffer> {
  if (socket.getProtocol() === 'TLSv1.2') return socket.getSession() as Buffer;
  const tls13 = once(socket, 'session');
  // TLS 1.3 sends it behind the handshake; what is read brings it.
  socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [session] = await tls13;
  return session as Buffer;
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

// What becomes of open connections when mutual TLS is changed, and of sessions that a visitor has kept.

import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Identity, type Issuer, newIssuer } from '../../support/issuer.ts';
import { askHttp2On, askOn, type Come, closed, type Edge, http2On, startTlsLab, type TlsLab } from '../tls-lab.ts';

let lab: TlsLab;
let visitors: { first: Identity; second: Identity };
let ids: string[];

beforeAll(async () => {
  lab = await startTlsLab();
  const issuers: [Issuer, Issuer] = [await newIssuer('CN=First'), await newIssuer('CN=Second')];
  const [first, second] = await Promise.all(issuers.map((issuer) => issuer.issue()));
  visitors = { first: first as Identity, second: second as Identity };
  ids = await lab.authorities(...issuers);
});
afterAll(() => lab?.close());

const trust = (edge: Edge, from: number, to: number, enabled = true) =>
  edge.set('mutual_tls', { enabled, certificate_authority_ids: ids.slice(from, to) });

interface Kept {
  socket: TLSSocket;
  ask(): Promise<Come>;
}

const ways: Record<string, (name: string, identity: Identity | undefined) => Promise<Kept>> = {
  async http1(name, identity) {
    const socket = await lab.connect(name, identity);
    return { socket, ask: () => askOn(socket, name) };
  },
  async http2(name, identity) {
    const socket = await lab.connect(name, { ...identity, ALPNProtocols: ['h2'] });
    const session = http2On(socket, name);
    return { socket, ask: () => askHttp2On(session) };
  },
};

describe.each([
  ['an HTTPS edge over HTTP/1.1', 'https', 'http1'],
  ['an HTTPS edge over HTTP/2', 'https', 'http2'],
  ['a TLS edge', 'tls', 'http1'],
] as const)('at %s', (_, kind, way) => {
  const name = `${kind}-${way}.open.tunnel.localhost`;
  const open = (identity?: Identity) => (ways[way] as (typeof ways)[string])(name, identity);
  const come = (identity?: Identity) => (way === 'http2' ? lab.comeByHttp2(name, identity) : lab.come(name, identity));
  let edge: Edge;
  beforeAll(async () => {
    edge = await lab.edge(kind, name);
  });

  test('an authority that is taken out of the module cuts its visitors off, and keeps them out', async () => {
    await trust(edge, 0, 2);
    const [one, two] = [await open(visitors.first), await open(visitors.second)];
    for (const { ask } of [one, two]) expect(await ask()).toMatchObject({ status: 200 });
    await trust(edge, 1, 2);
    await closed(one.socket);
    const { asked } = lab.upstream;
    expect(await come(visitors.first)).toMatchObject({ status: undefined });
    expect(lab.upstream.asked).toBe(asked);
    expect(await come(visitors.second)).toMatchObject({ status: 200 });
  });

  test('one that is added lets its visitors in at once', async () => {
    await trust(edge, 1, 2);
    expect(await come(visitors.first)).toMatchObject({ status: undefined });
    await trust(edge, 0, 2);
    expect(await come(visitors.first)).toMatchObject({ status: 200 });
  });

  test('the module switched on cuts off those who came without it; off or gone, everybody comes in', async () => {
    await edge.unset('mutual_tls');
    // A TLS edge would pass TLS through now; an HTTPS edge never does.
    if (kind === 'tls') await edge.set('tls_termination', { terminate_at: 'edge' });
    const before = await open();
    expect(await before.ask()).toMatchObject({ status: 200 });
    await trust(edge, 0, 1);
    await closed(before.socket);
    expect(await come()).toMatchObject({ status: undefined });
    await trust(edge, 0, 1, false);
    expect(await come()).toMatchObject({ status: 200 });
    await trust(edge, 0, 1);
    expect(await come()).toMatchObject({ status: undefined });
    await edge.unset('mutual_tls');
    expect(await come()).toMatchObject({ status: 200 });
  });

  test('what does not touch the terms of TLS cuts nobody off', async () => {
    await trust(edge, 0, 1);
    const kept = await open(visitors.first);
    expect(await kept.ask()).toMatchObject({ status: 200 });
    const { status } = await lab.account.call('PATCH', edge.path, { description: `changed ${way}` });
    expect(status).toBe(200);
    expect(await kept.ask()).toMatchObject({ status: 200 });
    kept.socket.destroy();
  });
});

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('with %s', (version) => {
  const versions = { minVersion: version, maxVersion: version };
  const names = {
    open: `open-${version.at(-1)}.tunnel.localhost`,
    mutual: `mutual-${version.at(-1)}.tunnel.localhost`,
  };
  let edge: Edge;
  beforeAll(async () => {
    await lab.edge('https', names.open);
    edge = await lab.edge('https', names.mutual);
    await trust(edge, 0, 2);
  });

  /** A visit, and the session that the visitor could resume; undefined when it was given none. */
  async function sessionOf(name: string, identity?: Identity): Promise<Buffer | undefined> {
    const socket = await lab.connect(name, { ...identity, ...versions });
    let given: Buffer | undefined = version === 'TLSv1.2' ? socket.getSession() : undefined;
    socket.on('session', (session: Buffer) => {
      given = session;
    });
    expect(await askOn(socket, name)).toMatchObject({ status: 200 });
    socket.destroy();
    return given;
  }
  async function isResumed(name: string, session: Buffer | undefined, identity?: Identity): Promise<boolean> {
    const socket = await lab.connect(name, { ...identity, ...versions, session });
    expect(await askOn(socket, name)).toMatchObject({ status: 200 });
    const isReused = socket.isSessionReused();
    socket.destroy();
    return isReused;
  }

  test('sessions are resumed where there is no mutual TLS', async () => {
    const session = await sessionOf(names.open);
    expect(session).toBeDefined();
    expect(await isResumed(names.open, session)).toBe(true);
  });

  test('no session is resumed with mutual TLS: each connection has to show its certificate', async () => {
    const session = await sessionOf(names.mutual, visitors.first);
    expect(await isResumed(names.mutual, session, visitors.first)).toBe(false);
    expect(await lab.come(names.mutual, { ...versions, session })).toMatchObject({ status: undefined });
  });

  test('a session of before the authorities changed lets nobody in', async () => {
    const session = await sessionOf(names.mutual, visitors.first);
    await trust(edge, 1, 2);
    expect(await lab.come(names.mutual, { ...versions, ...visitors.first, session })).toMatchObject({
      status: undefined,
    });
    expect(await isResumed(names.mutual, session, visitors.second)).toBe(false);
    await trust(edge, 0, 2);
  });

  test('nor does one of a name without mutual TLS, or of before it was switched on', async () => {
    const elsewhere = await sessionOf(names.open);
    await trust(edge, 0, 2, false);
    const before = await sessionOf(names.mutual);
    await trust(edge, 0, 2);
    for (const session of [elsewhere, before]) {
      expect(session).toBeDefined();
      expect(await lab.come(names.mutual, { ...versions, session })).toMatchObject({ status: undefined });
      expect(await isResumed(names.mutual, session, visitors.first)).toBe(false);
    }
  });
});

test('with TLS 1.2 nobody can become another visitor later, by a second handshake on the connection', async () => {
  const socket = await lab.connect('mutual-2.tunnel.localhost', { ...visitors.first, maxVersion: 'TLSv1.2' });
  expect(await askOn(socket, 'mutual-2.tunnel.localhost')).toMatchObject({ status: 200 });
  const failure = once(socket, 'error');
  socket.renegotiate({ rejectUnauthorized: true }, () => {});
  const [{ code }] = await failure;
  expect(code).toBe('ERR_SSL_NO_RENEGOTIATION');
  socket.destroy();
});

test('the log tells of a visitor who failed in the handshake', async () => {
  expect(await lab.come('mutual-3.tunnel.localhost')).toMatchObject({ status: undefined });
  const { body } = await lab.account.call('GET', '/endpoints?limit=100');
  const { id } = body.endpoints.find(({ public_url }: { public_url: string }) => public_url.includes('mutual-3'));
  expect(await lab.gateway.logged(({ endpointId }) => endpointId === id)).toMatchObject({
    msg: 'visitor rejected',
    module: 'mutual_tls',
    reason: 'the TLS handshake failed',
    accountId: lab.account.accountId,
    ip: '127.0.0.1',
  });
});

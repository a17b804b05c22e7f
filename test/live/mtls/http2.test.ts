// A connection is good for the name that its handshake was for, and for no other: not for one with mutual TLS, nor from
// one. The names here have one certificate, so that a browser may well try (RFC 9113, section 9.1.1).

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Identity, newIssuer } from '../../support/issuer.ts';
import { askHttp2On, askOn, startTlsLab, type TlsLab } from '../tls-lab.ts';

const MUTUAL = 'front-door.tunnel.localhost';
const STRICTER = 'back-door.tunnel.localhost';
const TWIN = 'same-door.tunnel.localhost';
const OPEN = 'open-door.tunnel.localhost';
const OPEN_TOO = 'side-door.tunnel.localhost';
const NOBODY = { checkServerIdentity: () => undefined };

let lab: TlsLab;
let visitor: Identity;
let asked: number;

beforeAll(async () => {
  lab = await startTlsLab();
  const issuers = [await newIssuer('CN=Front door'), await newIssuer('CN=Back door')] as const;
  visitor = await issuers[0].issue();
  const [front, back] = await lab.authorities(...issuers);
  for (const name of [OPEN, OPEN_TOO]) await lab.edge('https', name);
  for (const name of [MUTUAL, TWIN])
    await (await lab.edge('https', name)).set('mutual_tls', { certificate_authority_ids: [front] });
  await (await lab.edge('https', STRICTER)).set('mutual_tls', { certificate_authority_ids: [front, back] });
});
afterAll(() => lab?.close());
beforeEach(() => {
  asked = lab.upstream.asked;
});

const crossings = [
  ['a name without mutual TLS', OPEN, 'one with it', MUTUAL],
  ['a name with mutual TLS', MUTUAL, 'one without it', OPEN],
  ['a name with mutual TLS', MUTUAL, 'one with the same authorities', TWIN],
  ['a name without mutual TLS', OPEN, 'another one without it', OPEN_TOO],
  ['a name with mutual TLS', MUTUAL, 'one with more authorities', STRICTER],
  ['a name with mutual TLS', STRICTER, 'one with fewer authorities', MUTUAL],
] as const;

describe.each(crossings)('a connection that was made for %s', (_, from, what, to) => {
  test(`is misdirected for ${what}, and still good for its own (HTTP/2)`, async () => {
    const session = await lab.http2(from, visitor);
    expect(await askHttp2On(session)).toMatchObject({ status: 200 });
    expect(await askHttp2On(session, { ':authority': to })).toMatchObject({ status: 421 });
    expect(await askHttp2On(session, { ':authority': `${to}:443` })).toMatchObject({ status: 421 });
    expect(await askHttp2On(session)).toMatchObject({ status: 200 });
    session.destroy();
    expect(lab.upstream.asked).toBe(asked + 2);
  });

  test(`is misdirected for ${what} (HTTP/1.1)`, async () => {
    const socket = await lab.connect(from, visitor);
    expect(await askOn(socket, from)).toMatchObject({ status: 200 });
    expect(await askOn(socket, to)).toMatchObject({ status: 421 });
    socket.destroy();
    expect(lab.upstream.asked).toBe(asked + 1);
  });

  test(`is misdirected for ${what} as its first request, too`, async () => {
    const [socket, session] = [await lab.connect(from, visitor), await lab.http2(from, visitor)];
    expect(await askOn(socket, to.toUpperCase())).toMatchObject({ status: 421 });
    expect(await askHttp2On(session, { ':authority': to })).toMatchObject({ status: 421 });
    socket.destroy();
    session.destroy();
    expect(lab.upstream.asked).toBe(asked);
  });
});

describe('a visitor who named nobody in the handshake', () => {
  const ways = ['HTTP/1.1', 'HTTP/2'] as const;
  const ask = async (way: (typeof ways)[number], host: string, identity?: Identity) => {
    const options = { ...NOBODY, ...identity, servername: '' };
    if (way === 'HTTP/1.1') {
      const socket = await lab.connect(undefined, options);
      const come = await askOn(socket, host);
      socket.destroy();
      return come;
    }
    const session = await lab.http2(host, options);
    const come = await askHttp2On(session, { ':authority': host });
    session.destroy();
    return come;
  };

  test.each(ways)('is misdirected for a name with mutual TLS, with a certificate or without (%s)', async (way) => {
    for (const identity of [undefined, visitor])
      expect(await ask(way, MUTUAL, identity)).toMatchObject({ status: 421 });
    expect(lab.upstream.asked).toBe(asked);
  });

  test.each(ways)('comes in at one without it (%s)', async (way) => {
    expect(await ask(way, OPEN)).toMatchObject({ status: 200 });
  });
});

test('a name is the same in capitals: its mutual TLS cannot be gone round so', async () => {
  const servername = MUTUAL.toUpperCase();
  expect(await lab.come(MUTUAL, { servername, ...NOBODY })).toMatchObject({ status: undefined });
  expect(await lab.come(MUTUAL, { servername, ...NOBODY, ...visitor })).toMatchObject({ status: 200 });
});

test('of two tunnels in a pool each lets in those of its own authority, however many come at once', async () => {
  const name = 'pooled.doors.tunnel.localhost'; // Its certificate is yet to be made: they all wait for it.
  const [one, two] = [await newIssuer('CN=One'), await newIssuer('CN=Two')];
  for (const { cert } of [one, two])
    await lab.session
      .httpEndpoint()
      .domain(name)
      .poolingEnabled(true)
      .mutualTlsca(Buffer.from(cert))
      .listenAndForward(lab.upstream.url);
  const identity = await one.issue();
  const came = await Promise.all(Array.from({ length: 20 }, () => lab.come(name, identity)));
  expect(came.filter(({ status }) => status === 200)).toHaveLength(10);
  expect(lab.upstream.asked).toBe(asked + 10);
});

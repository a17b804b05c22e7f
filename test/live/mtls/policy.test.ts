// Mutual TLS where a policy has a say in the TLS of visitors: nobody gets round the one by way of the other.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Identity, type Issuer, newIssuer } from '../../support/issuer.ts';
import { askHttp2On, askOn, startTlsLab, type TlsLab } from '../tls-lab.ts';

let lab: TlsLab;
let devices: Issuer;
let visitor: Identity;
let stranger: Identity;
let authority: string;
let connections: number;

beforeAll(async () => {
  lab = await startTlsLab();
  devices = await newIssuer('CN=Devices');
  visitor = await devices.issue();
  stranger = await (await newIssuer('CN=Strangers')).issue();
  [authority = ''] = await lab.authorities(devices);
});
afterAll(() => lab?.close());
beforeEach(() => {
  connections = lab.upstream.connections;
});

const onConnect = (type: string, config: object = {}) => ({ actions: [{ type, config }] });
const policyOf = (...rules: object[]) => JSON.stringify({ on_tcp_connect: rules });
const refused = { status: undefined, seen: undefined };
const tls = (name: string) => lab.session.tlsEndpoint().domain(name);
const upstreamUrl = () => `tcp://${lab.upstream.address}`;

describe('a policy’s terminate-tls on a tunnel for HTTPS', () => {
  const name = 'https-policy.tunnel.localhost';
  beforeAll(async () => {
    const config = { mutual_tls_certificate_authorities: [devices.cert] };
    const policy = policyOf(onConnect('terminate-tls', config));
    await lab.session.httpEndpoint().domain(name).trafficPolicy(policy).listenAndForward(lab.upstream.url);
  });

  test.each(['come', 'comeByHttp2'] as const)('lets in only whom its authorities vouch for (%s)', async (way) => {
    expect(await lab[way](name, visitor)).toMatchObject({ status: 200 });
    const { asked } = lab.upstream;
    expect(await lab[way](name)).toMatchObject(refused);
    expect(await lab[way](name, stranger)).toMatchObject(refused);
    expect(lab.upstream.asked).toBe(asked);
  });

  test('cannot be gone round without a name in the handshake, nor from another name', async () => {
    const other = 'beside-policy.tunnel.localhost';
    await lab.session.httpEndpoint().domain(other).listenAndForward(lab.upstream.url);
    const { asked } = lab.upstream;
    const unnamed = { servername: '', checkServerIdentity: () => undefined };
    expect(await askOn(await lab.connect(undefined, unnamed), name)).toMatchObject(refused);
    const byHttp2 = await lab.http2(name, unnamed);
    expect(await askHttp2On(byHttp2, { ':authority': name })).toMatchObject(refused);
    const beside = await lab.http2(other);
    expect(await askHttp2On(beside, { ':authority': name })).toMatchObject({ status: 421 });
    beside.destroy();
    expect(lab.upstream.asked).toBe(asked);
  });
});

describe('what a policy’s terminate-tls does with certificates', () => {
  const none = 'a visitor without a certificate';
  const unknown = 'one whom nobody vouches for';
  test.each([
    ['request', { [none]: 200, [unknown]: 200 }],
    ['require-any', { [none]: undefined, [unknown]: 200 }],
    ['require-and-verify', { [none]: undefined, [unknown]: undefined }],
  ] as const)('%s', async (strategy, expected) => {
    const name = `strategy-${strategy}.tunnel.localhost`;
    const policy = policyOf(
      onConnect('terminate-tls', {
        mutual_tls_certificate_authorities: [devices.cert],
        mutual_tls_verification_strategy: strategy,
      }),
    );
    await tls(name).trafficPolicy(policy).listenAndForward(upstreamUrl());
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      expect((await lab.come(name, { maxVersion })).status, none).toBe(expected[none]);
      expect((await lab.come(name, { ...stranger, maxVersion })).status, unknown).toBe(expected[unknown]);
      expect((await lab.come(name, { ...visitor, maxVersion })).status, 'a trusted one').toBe(200);
    }
  });
});

describe('an edge with mutual TLS whose policy', () => {
  async function edgeWith(name: string, ...rules: object[]) {
    const edge = await lab.edge('tls', name);
    await edge.set('mutual_tls', { certificate_authority_ids: [authority] });
    await edge.set('traffic_policy', { value: policyOf(...rules) });
  }

  test('ends TLS on terms of its own is refused, whichever of both comes second', async () => {
    const value = policyOf(onConnect('terminate-tls'));
    const both = { status: 400, body: { error_code: 'ERR_GATEWAY_90051' } };
    const asking = await lab.edge('tls', 'asking.both.tunnel.localhost');
    await asking.set('mutual_tls', { certificate_authority_ids: [authority] });
    expect(await lab.account.call('PUT', `${asking.path}/traffic_policy`, { value })).toMatchObject(both);
    const ending = await lab.edge('tls', 'ending.both.tunnel.localhost');
    await ending.set('traffic_policy', { value });
    const mutual = { certificate_authority_ids: [authority] };
    expect(await lab.account.call('PUT', `${ending.path}/mutual_tls`, mutual)).toMatchObject(both);
    const tunnel = tls('tunnel.both.tunnel.localhost').mutualTlsca(Buffer.from(devices.cert)).trafficPolicy(value);
    await expect(tunnel.listen()).rejects.toThrow('do not go together');
  });

  test('sends visitors to where another policy ends TLS lets nobody in, and the log says why', async () => {
    const name = 'ended-far.both.tunnel.localhost';
    const ends = policyOf(onConnect('terminate-tls'));
    await tls('ended.internal').binding('internal').trafficPolicy(ends).listenAndForward(upstreamUrl());
    await edgeWith(name, onConnect('forward-internal', { url: 'tls://ended.internal' }));
    for (const identity of [{}, visitor]) expect(await lab.come(name, identity)).toMatchObject(refused);
    expect(lab.upstream.connections).toBe(connections);
    const { accountId } = lab.account;
    const about = await lab.gateway.logged((line) => line.accountId === accountId && line.module === 'mutual_tls');
    expect(about).toMatchObject({ reason: expect.stringContaining('a policy wants'), ip: '127.0.0.1' });
  });

  test('ends TLS is let, where the edge has no mutual TLS, but a least version', async () => {
    const name = 'ended-alone.both.tunnel.localhost';
    const edge = await lab.edge('tls', name);
    await edge.set('tls_termination', { terminate_at: 'edge', min_version: '1.3' });
    await edge.set('traffic_policy', { value: policyOf(onConnect('terminate-tls')) });
    expect(await lab.come(name)).toMatchObject({ status: 200 });
  });

  test('sends visitors on to another endpoint still asks for their certificates', async () => {
    const name = 'sent-on.both.tunnel.localhost';
    await tls('sent-on.internal').binding('internal').listenAndForward(upstreamUrl());
    await edgeWith(name, onConnect('forward-internal', { url: 'tls://sent-on.internal' }));
    expect(await lab.come(name)).toMatchObject(refused);
    expect(await lab.come(name, stranger)).toMatchObject(refused);
    expect(lab.upstream.connections).toBe(connections);
    expect(await lab.come(name, visitor)).toMatchObject({ status: 200 });
  });

  test('sends them on to one with mutual TLS of its own lets nobody in', async () => {
    const name = 'sent-far.both.tunnel.localhost';
    const other = await newIssuer('CN=Further in');
    const ca = Buffer.from(other.cert);
    await tls('further.internal').binding('internal').mutualTlsca(ca).listenAndForward(upstreamUrl());
    await edgeWith(name, onConnect('forward-internal', { url: 'tls://further.internal' }));
    for (const identity of [{}, visitor, await other.issue()])
      expect(await lab.come(name, identity)).toMatchObject(refused);
    expect(lab.upstream.connections).toBe(connections);
  });
});

// Section 2.2, and what of section 3 is about endpoints, at an endpoint of every kind that is live.

import { describe, expect, test } from 'vitest';
import { type LiveKind, liveKinds, metadata } from '../live.ts';
import { sampleFrom } from '../samples.ts';
import { prefixes, says } from '../tables.ts';
import { account, done, doorNames, fullAnswer, gateway, live, uri } from '../walk.ts';

/** Registers the checks. */
export function checkEndpoints(): void {
  describe.each(doorNames)('2.2 an endpoint through %s', (door) => {
    const REFERENCES = ['domain', 'tcp_addr', 'tunnel', 'edge'];
    const kinds = Object.entries(liveKinds) as [LiveKind, { proto: string; type: string }][];
    const endpointOf = (kind: LiveKind) => sampleFrom(`GET /endpoints/{id}, ${kind}`).answer(door);

    test.each(kinds)('of a %s has its id, protocol, type and metadata: %j', async (kind, { proto, type }) => {
      expect(await endpointOf(kind)).toMatchObject({ id: live.ids[kind], proto, type, metadata });
    });

    test.each(kinds)('of a %s has a hostname:port, and the URL of that', async (kind, { proto }) => {
      const { hostport, public_url, region, created_at, updated_at } = await endpointOf(kind);
      const [, hostname = '', port = ''] = /^([a-z0-9.-]+):(\d{1,5})$/.exec(hostport) ?? [];
      expect(Number(port)).toBeGreaterThan(0);
      const url = new URL(public_url);
      expect(public_url).toMatch(new RegExp(`^${proto}://${hostname.replaceAll('.', '\\.')}(:\\d+)?$`));
      // An edge is at 443 whatever the port that the gateway listens at.
      if (!kind.endsWith('edge') || proto === 'tcp') expect(url.port).toBe(port);
      expect(region).toBe('');
      expect(Date.parse(updated_at)).toBeGreaterThanOrEqual(Date.parse(created_at));
    });

    test.each(kinds)(`of a %s: ${says('2.2 omitted')}`, async (kind) => {
      const endpoint = await endpointOf(kind);
      const apply = live.references[kind];
      for (const name of REFERENCES) {
        const path = apply[name];
        if (path === undefined) expect(endpoint[name], name).toBeNull();
        else expect(endpoint[name], name).toEqual({ id: path.split('/').at(-1), uri: uri(path) });
      }
    });

    test.each(kinds)('of a %s: what it refers to is there', async (kind) => {
      const endpoint = await endpointOf(kind);
      for (const name of REFERENCES.filter((name) => endpoint[name] !== null)) {
        const { status, body } = await account.call('GET', endpoint[name].uri);
        expect({ status, id: body.id }, name).toEqual({ status: 200, id: endpoint[name].id });
      }
    });

    test.each(['endpoint', 'tunnel'])(`${says('2 ids')} (%s)`, async (what) => {
      const { id, tunnel } = await endpointOf('https tunnel');
      expect(what === 'tunnel' ? tunnel.id : id).toMatch(new RegExp(`^${prefixes.get(`${what}s`)}[0-9A-Za-z]+$`));
    });

    test(says('2.2 ref'), async () => {
      const shown = (await Promise.all(kinds.map(([kind]) => endpointOf(kind)))).flatMap((endpoint) =>
        REFERENCES.map((name) => endpoint[name]).filter((reference) => reference !== null),
      );
      expect(shown).toHaveLength(15);
      for (const reference of shown) expect(reference).toEqual({ id: expect.any(String), uri: expect.any(String) });
    });

    test(says('2 nulls'), async () => {
      const { answer: credential } = await fullAnswer(door, 'GET /credentials/{id}');
      const { answer: domain } = await fullAnswer(door, 'POST /reserved_domains');
      const list = await done(door, 'GET /endpoints');
      const edge = await endpointOf('https edge');
      expect([credential.token, domain.certificate, list.next_page_uri, edge.tcp_addr, edge.tunnel]).toEqual(
        Array(5).fill(null),
      );
    });

    test(`4.2 ${says('3 endpoint')}`, async () => {
      const { endpoints } = await done(door, 'GET /endpoints');
      const types = Object.fromEntries(endpoints.map((one: { id: string; type: string }) => [one.id, one.type]));
      expect(types).toEqual(Object.fromEntries(kinds.map(([kind, { type }]) => [live.ids[kind], type])));
    });
  });

  test('a cloud endpoint, which the specification does not know, is one that an edge serves through REST', async () => {
    const { call } = await gateway.newAccount();
    await call('POST', '/reserved_domains', { domain: 'cloud.walk-cloud.tunnel.localhost' });
    const { status, body } = await call('POST', '/cloud_endpoints', {
      url: 'https://cloud.walk-cloud.tunnel.localhost',
    });
    const { endpoints } = (await call('GET', '/endpoints')).body;
    const looked = await call('GET', `/endpoints/${body.id}`);
    expect({ status, endpoints }).toEqual({ status: 201, endpoints: [looked.body] });
    expect(looked.body).toMatchObject({ id: body.id, type: 'edge', tunnel: null });
  });
}

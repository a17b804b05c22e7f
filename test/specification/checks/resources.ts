// What the sentences of sections 2 to 4 say of ids, URIs, modules, bot users and domains, through both doors; and that every
// member of a request is of its type.

import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../src/store/ids.ts';
import { sampleFrom } from '../samples.ts';
import { objects, operations, prefixes, says } from '../tables.ts';
import {
  account,
  ask,
  authority,
  bodyOf,
  create,
  type DoorName,
  done,
  doorNames,
  fullAnswer,
  placeOf,
  route,
  tlsEdge,
  uri,
} from '../walk.ts';

/** Values that are of another type than the table says, by member. */
const ofAnotherType: Record<string, unknown[]> = {
  description: [7, ['x', 'y']],
  metadata: [{ a: 1 }, true],
  acl: [[7], { a: 1 }],
  owner_id: [{}, ['x', 'y']],
  enabled: ['true', 1],
  certificate_authority_ids: [[7], { a: 1 }],
  target: ['x', 7],
  format: [7, {}],
  name: [7, {}, null],
  domain: [7, {}, null],
  region: [7, {}],
};

/** Registers the checks. */
export function checkResources(): void {
  describe.each(doorNames)('through %s', (door) => {
    test.each([...prefixes].filter(([what]) => !['endpoints', 'tunnels'].includes(what)))(
      `%s have ids that begin with %s: ${says('2 ids')}`,
      async (what, prefix) => {
        expect(await idOf(door, what)).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]+$`));
      },
    );

    const withUri = ['/credentials', '/event_destinations', '/bot_users', '/reserved_domains'];
    test.each(withUri)(`%s: ${says('2 uris')}`, async (path) => {
      const { answer: made } = await fullAnswer(door, `POST ${path}`);
      expect(made.uri).toBe(uri(`${path}/${made.id}`));
      const { status, body } = await account.call('GET', made.uri);
      expect({ status, id: body.id }).toEqual({ status: 200, id: made.id });
    });

    const typed = operations.flatMap(({ section, call, body }) =>
      body.filter((member) => member in ofAnotherType).map((member) => [section, call, member] as const),
    );
    test.each(typed)('%s %s refuses a value of another type for %s', async (_, call, member) => {
      for (const value of ofAnotherType[member] ?? []) {
        const body = { ...bodyOf(call), [member]: value };
        const answer = await ask(door, call, { ids: await placeOf(call), body });
        expect(answer, JSON.stringify(value)).toMatchObject({ status: 400, body: null });
      }
    });

    test(`${says('4.6 create')} ${says('3 bot')}`, async () => {
      const { body, answer } = await fullAnswer(door, 'POST /bot_users');
      expect(answer).toMatchObject({ name: body?.name, active: true });
      expect(await ask(door, 'POST /bot_users', { body: { name: '' } })).toMatchObject({ status: 400 });
    });

    const domains = ['POST /reserved_domains', 'POST /reserved_domains for a wildcard'];
    test.each(domains)(`%s: ${says('4.7 create')}`, async (from) => {
      const made = await sampleFrom(from).answer(door);
      expect(made).toMatchObject({
        ...{ domain: expect.stringMatching(/^(\*\.)?[\w-]+\.example\.com$/), region: 'eu' },
        ...{ http_endpoint_configuration: null, https_endpoint_configuration: null, certificate: null },
        certificate_management_policy: { authority: expect.any(String), private_key_type: expect.any(String) },
      });
      const again = await ask(door, 'POST /reserved_domains', { body: { domain: made.domain } });
      expect(again, 'the same once more').toMatchObject({ status: 409 });
    });

    const noDomains = [
      'x',
      'a..b.example.com',
      '*.*.example.com',
      'a.*.example.com',
      'exa mple.com',
      'https://a.com',
      '',
    ];
    test.each(noDomains)('4.7 the domain is not %j', async (domain) => {
      expect(await ask(door, 'POST /reserved_domains', { body: { domain } })).toMatchObject({ status: 400 });
    });

    test(says('3 provisioning'), async () => {
      const { answer } = await fullAnswer(door, 'POST /reserved_domains');
      expect(answer.certificate_management_status).toEqual({
        renews_at: null,
        provisioning_job: {
          ...{ error_code: null, retries_at: null },
          ...{ msg: expect.stringMatching(/\w/), started_at: expect.stringMatching(/Z$/) },
        },
      });
    });

    describe('2.4 the client certificates of a TLS edge:', () => {
      const PUT = 'PUT /edges/tls/{id}/mutual_tls';
      let other: string;
      beforeAll(async () => {
        const { ca_pem } = (await account.call('GET', `/certificate_authorities/${authority}`)).body;
        other = await create('/certificate_authorities', { ca_pem });
      });

      test('enabled is true if unspecified, and authorities come back in their order', async () => {
        for (const certificate_authority_ids of [
          [authority, other],
          [other, authority],
        ]) {
          const answer = await done(door, PUT, { ids: tlsEdge, body: { certificate_authority_ids } });
          const shown = certificate_authority_ids.map((id) => ({ id, uri: uri(`/certificate_authorities/${id}`) }));
          expect(answer).toEqual({ enabled: true, certificate_authorities: shown });
          expect(await done(door, 'GET /edges/tls/{id}/mutual_tls', { ids: tlsEdge })).toEqual(answer);
        }
      });

      test.each([
        ['an authority that is not known', { certificate_authority_ids: [newId('ca')] }],
        ['none', { certificate_authority_ids: [] }],
        ['nothing', {}],
      ])('a request with %s is refused, and changes nothing', async (_, body) => {
        const before = await done('rest', 'GET /edges/tls/{id}/mutual_tls', { ids: tlsEdge });
        expect(await ask(door, PUT, { ids: tlsEdge, body })).toMatchObject({ status: 400, body: null });
        expect(await done('rest', 'GET /edges/tls/{id}/mutual_tls', { ids: tlsEdge })).toEqual(before);
      });
    });
  });

  test(says('4.7 records'), async () => {
    const made = await Promise.all(
      doorNames.map((door) => sampleFrom('POST /reserved_domains for a wildcard').answer(door)),
    );
    const names = made.flatMap((one) => [one.cname_target, one.acme_challenge_cname_target]);
    for (const name of names) expect(name).toMatch(/^([a-z0-9-]+\.)+[a-z0-9-]+$/);
    expect(new Set(names).size, 'each is another name').toBe(4);
  });

  test(says('2 timestamps'), () => {
    const timestamps = Object.values(objects).flatMap(({ members }) => members.filter(({ name }) => /_at$/.test(name)));
    expect(timestamps).toHaveLength(6);
    for (const { name, type } of timestamps) expect(type, name).toEqual({ kind: 'timestamp' });
  });
}

/** The id of an object of a kind, as a door shows it. */
async function idOf(door: DoorName, what: string): Promise<string> {
  const documented: Record<string, string> = {
    credentials: '/credentials',
    'reserved domains': '/reserved_domains',
    'event destinations': '/event_destinations',
    'bot users': '/bot_users',
  };
  if (what in documented) return (await fullAnswer(door, `POST ${documented[what]}`)).answer.id;
  if (what === 'users') return (await fullAnswer(door, 'POST /credentials')).answer.owner_id;
  const others: Record<string, [path: string, query: string]> = {
    'certificate authorities': [`/certificate_authorities/${authority}`, `certificateAuthority(id: "${authority}")`],
    'HTTPS edges': [`/edges/https/${route.edge_id}`, `httpsEdge(id: "${route.edge_id}")`],
    'HTTPS edge routes': [
      `/edges/https/${route.edge_id}/routes/${route.id}`,
      `httpsEdgeRoute(edgeId: "${route.edge_id}", id: "${route.id}")`,
    ],
    'TLS edges': [`/edges/tls/${tlsEdge.id}`, `tlsEdge(id: "${tlsEdge.id}")`],
  };
  const [at = '', query = ''] = others[what] ?? [];
  if (door === 'rest') return (await account.call('GET', at)).body.id;
  return (await account.graphql(`{ found: ${query} { id } }`)).body.data.found.id;
}

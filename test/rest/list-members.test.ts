// Lists that are members of objects: what was sent comes back in its order, wherever the object is shown.

import { getNamedType, getNullableType, isInputObjectType, isListType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { routes, schema } from '../../src/api/schema.ts';
import { authorityPem } from '../contract/rows/certificates.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
/** Two or three of each, in an order that is neither that of their ids nor the opposite. */
let ids: Record<'authorities' | 'policies' | 'backends' | 'destinations', string[]>;
let addresses: string[];
let edge: string;

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
type Json = any;

const created = async (path: string, body: object = {}): Promise<Json> => {
  const answer = await account.call('POST', path, body);
  expect(answer.status, `POST ${path}: ${answer.text}`).toBe(201);
  return answer.body;
};

beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  const three = async (path: string, body: object): Promise<string[]> => {
    const [a, b, c] = [await created(path, body), await created(path, body), await created(path, body)];
    return [b.id, c.id, a.id];
  };
  ids = {
    authorities: await three('/certificate_authorities', { ca_pem: await authorityPem() }),
    policies: await three('/ip_policies', {}),
    backends: await three('/backends/tunnel_group', { labels: { app: 'list' } }),
    destinations: await three('/event_destinations', {
      target: { datadog: { api_key: 'k', ddtags: '', service: 'gateway', ddsite: 'datadoghq.com' } },
    }),
  };
  const [a, b, c] = [
    await created('/reserved_addrs'),
    await created('/reserved_addrs'),
    await created('/reserved_addrs'),
  ];
  addresses = [b.addr, c.addr, a.addr];
  await created('/reserved_domains', { domain: '*.lists.example.com' });
  edge = (await created('/edges/https')).id;
});

const texts = ['m', 'z', 'a'];
const types = ['user_created.v0', 'bot_user_created.v0', 'domain_created.v0'];
const password = 'long enough';
const signIn = { client_id: 'app', client_secret: password };
const actions = [{ type: 'deny' }, { type: 'compress-response' }];
const idsOf = (refs: { id: string }[]) => refs.map(({ id }) => id);

interface Case {
  path: () => string;
  /** A body with lists in an order, or in the opposite one. */
  body: (order: <T>(list: readonly T[]) => T[]) => object;
  /** The same lists, as an answer shows them. */
  shown: (answer: Json) => object;
  /** What is the same body in each case, and is not compared. */
  more?: object;
}

const cases: Record<string, Case> = {
  'event subscriptions': {
    path: () => '/event_subscriptions',
    body: (order) => ({ sources: order(types).map((type) => ({ type })), destination_ids: order(ids.destinations) }),
    shown: ({ sources, destinations }) => ({
      sources: sources.map(({ type }: Json) => ({ type })),
      destination_ids: idsOf(destinations),
    }),
  },
  'fields of event sources': {
    path: () => '/event_subscriptions',
    body: (order) => ({
      sources: [
        {
          type: 'http_request_complete.v0',
          fields: order(['http.request', 'conn.client_ip', 'http.response.status_code']),
        },
      ],
    }),
    shown: ({ sources }) => ({ sources: sources.map(({ type, fields }: Json) => ({ type, fields })) }),
  },
  'Kubernetes operators': {
    path: () => '/kubernetes_operators',
    body: (order) => ({ enabled_features: order(['ingress', 'gateway', 'a feature']) }),
    shown: ({ enabled_features }) => ({ enabled_features }),
  },
  'API keys': {
    path: () => '/api_keys',
    body: (order) => ({ scopes: order(['vault:read', 'credential:write', 'read']) }),
    shown: ({ scopes }) => ({ scopes }),
  },
  credentials: {
    path: () => '/credentials',
    body: (order) => ({ acl: order(['bind:m.example.com', 'bind:z=1', 'bind:a.example.com']) }),
    shown: ({ acl }) => ({ acl }),
  },
  'failover backends': {
    path: () => '/backends/failover',
    body: (order) => ({ backends: order(ids.backends) }),
    shown: ({ backends }) => ({ backends }),
  },
  'IP restrictions': {
    path: () => '/ip_restrictions',
    more: { type: 'agent' },
    body: (order) => ({ ip_policy_ids: order(ids.policies) }),
    shown: (answer) => ({ ip_policy_ids: idsOf(answer.ip_policies) }),
  },
  'HTTPS edges': {
    path: () => '/edges/https',
    body: (order) => ({
      hostports: order(texts).map((name) => `${name}.lists.example.com:443`),
      mutual_tls: { certificate_authority_ids: order(ids.authorities) },
    }),
    shown: ({ hostports, mutual_tls }) => ({
      hostports,
      mutual_tls: { certificate_authority_ids: idsOf(mutual_tls.certificate_authorities) },
    }),
  },
  'TLS edges': {
    path: () => '/edges/tls',
    body: (order) => ({
      hostports: order(texts).map((name) => `tls-${name}.lists.example.com:443`),
      mutual_tls: { certificate_authority_ids: order(ids.authorities) },
      ip_restriction: { ip_policy_ids: order(ids.policies) },
    }),
    shown: ({ hostports, mutual_tls, ip_restriction }) => ({
      hostports,
      mutual_tls: { certificate_authority_ids: idsOf(mutual_tls.certificate_authorities) },
      ip_restriction: { ip_policy_ids: idsOf(ip_restriction.ip_policies) },
    }),
  },
  'TCP edges': {
    path: () => '/edges/tcp',
    body: (order) => ({ hostports: order(addresses), ip_restriction: { ip_policy_ids: order(ids.policies) } }),
    shown: ({ hostports, ip_restriction }) => ({
      hostports,
      ip_restriction: { ip_policy_ids: idsOf(ip_restriction.ip_policies) },
    }),
  },
  routes: {
    path: () => `/edges/https/${edge}/routes`,
    more: { match_type: 'path_prefix', match: '/lists' },
    body: (order) => ({
      ip_restriction: { ip_policy_ids: order(ids.policies) },
      request_headers: { remove: order(texts) },
      response_headers: { remove: order(texts) },
      user_agent_filter: { allow: order(texts), deny: order(['n', 'y', 'b']) },
      basic_auth: { credentials: order(texts).map((username) => ({ username, password })) },
      oauth: {
        provider: {
          github: {
            ...signIn,
            email_addresses: order(texts).map((name) => `${name}@example.com`),
            email_domains: order(texts).map((name) => `${name}.example.com`),
            scopes: order(texts),
            organizations: order(texts),
            teams: order(texts).map((name) => `${name}/team`),
          },
        },
      },
      policy: {
        inbound: order(texts).map((name) => ({
          name,
          expressions: order(["req.method == 'POST'", "req.method != 'GET'", "req.method == 'PUT'"]),
          actions: [{ type: 'deny' }],
        })),
        outbound: [{ actions: order(actions.slice(1)) }],
      },
    }),
    shown: (answer) => ({
      ip_restriction: { ip_policy_ids: idsOf(answer.ip_restriction.ip_policies) },
      request_headers: { remove: answer.request_headers.remove },
      response_headers: { remove: answer.response_headers.remove },
      user_agent_filter: { allow: answer.user_agent_filter.allow, deny: answer.user_agent_filter.deny },
      basic_auth: {
        credentials: answer.basic_auth.credentials.map(({ username }: Json) => ({ username, password })),
      },
      oauth: { provider: { github: { ...pick(answer.oauth.provider.github), ...signIn } } },
      policy: {
        inbound: answer.policy.inbound.map(({ name, expressions, actions }: Json) => ({
          name,
          expressions,
          actions: actions.map(({ type }: Json) => ({ type })),
        })),
        outbound: answer.policy.outbound.map(({ actions }: Json) => ({
          actions: actions.map(({ type }: Json) => ({ type })),
        })),
      },
    }),
  },
};

const pick = ({ email_addresses, email_domains, scopes, organizations, teams }: Json) => ({
  ...{ email_addresses, email_domains, scopes, organizations, teams },
});

describe('lists keep the order in which they were sent', () => {
  test.each(Object.entries(cases))('of %s', async (_, { path, body, shown, more }) => {
    const sent = body((list) => [...list]);
    const made = await created(path(), { ...more, ...sent });
    expect(shown(made)).toEqual(sent);
    const uri = made.uri ?? `${path()}/${made.id}`;
    const isShown = async (expected: object) => {
      expect(shown((await account.call('GET', uri)).body)).toEqual(expected);
      const list = await account.call('GET', path());
      const key = Object.keys(list.body).find((name) => Array.isArray(list.body[name])) ?? '';
      if (list.status === 200) expect(shown(list.body[key].find(({ id }: Json) => id === made.id))).toEqual(expected);
    };
    await isShown(sent);
    const turned = body((list) => list.toReversed());
    const changed = await account.call('PATCH', uri, turned);
    expect(changed.status, changed.text).toBe(200);
    expect(shown(changed.body)).toEqual(turned);
    await isShown(turned);
  });

  test('of event subscriptions in GraphQL and in events, and sources that come later come last', async () => {
    const sources = types.map((type) => ({ type }));
    const { id } = await created('/event_subscriptions', { sources });
    const list = `/event_subscriptions/${id}/sources`;
    await created(list, { type: 'api_key_created.v0' });
    await account.call('PATCH', `${list}/${types[1]}`, { sample_rate: 1 });
    await account.call('DELETE', `${list}/${types[0]}`);
    await created(list, { type: types[0] });
    const expected = [types[1], types[2], 'api_key_created.v0', types[0]];
    const typesOf = (shown: { type: string }[]) => shown.map(({ type }) => type);
    expect(typesOf((await account.call('GET', list)).body.sources)).toEqual(expected);
    const { body } = await account.graphql(
      `query ($id: ID!) {
        eventSubscription(id: $id) { sources { type } }
        eventSources(subscriptionId: $id) { sources { type } }
        eventSubscriptions(first: 1) { nodes { sources { type } } }
        objectHistory(id: $id, first: 1) { nodes { after } }
      }`,
      { id },
    );
    const { eventSubscription, eventSources, eventSubscriptions, objectHistory } = body.data;
    for (const shown of [eventSubscription, eventSources, eventSubscriptions.nodes[0]])
      expect(typesOf(shown.sources)).toEqual(expected);
    expect(typesOf(objectHistory.nodes[0].after.sources)).toEqual(expected);
  });

  test('of event subscriptions by earlier versions, which wrote no order, those that come later come last', async () => {
    const { id } = await created('/event_subscriptions');
    const { eventSource } = gateway.app.prisma;
    await eventSource.createMany({ data: types.map((type) => ({ subscriptionId: id, type })) });
    await created(`/event_subscriptions/${id}/sources`, { type: 'api_key_created.v0' });
    const { sources } = (await account.call('GET', `/event_subscriptions/${id}`)).body;
    expect(sources.map(({ type }: Json) => type)).toEqual([...types.toSorted(), 'api_key_created.v0']);
  });

  test('and every list that REST takes is one of these', () => {
    const taken = new Set<string>();
    const note = (type: Parameters<typeof getNamedType>[0], path: string) => {
      if (!type) return;
      const inner = getNamedType(type);
      if (isListType(getNullableType(type))) taken.add(path);
      if (!isInputObjectType(inner)) return;
      for (const [name, field] of Object.entries(inner.getFields())) note(field.type, name);
    };
    for (const { method, field } of routes) {
      if (method === 'GET') continue;
      const mutation = schema.getMutationType()?.getFields()[field];
      note(mutation?.args.find(({ name }) => name === 'input')?.type, '');
    }
    const tested = JSON.stringify(Object.values(cases).map(({ body }) => body((list) => [...list])));
    const camelCased = tested.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const missing = [...taken].filter((name) => !camelCased.includes(`"${name}":[`));
    // Of bindings and of places to resolve to there is one, of selectors none, and what OTLP collectors get is stored and shown as it is.
    expect(missing.sort()).toEqual(['bindings', 'endpointSelectors', 'headers', 'resolvesTo', 'resourceAttributes']);
  });
});

// Values of the right type that are wrong nevertheless.

import { newId } from '../../../src/store/ids.ts';
import { wrongModules } from '../rows/module-values.ts';
import type { World } from '../world.ts';
import { wrongAuthorities } from './authority-values.ts';
import { wrongBackends } from './backend-values.ts';
import { type HostileCase, wrong } from './case.ts';
import { wrongKeys } from './key-values.ts';
import { type WritingName, writings } from './operations.ts';

/** 256 bytes in 128 characters, and 4097 in 2049. */
const LONG = 'é'.repeat(128);
const VERY_LONG = `x${'é'.repeat(2048)}`;

const names = Object.keys(writings) as WritingName[];
const family = (name: WritingName): [description: number, metadata: number] => {
  if (/ApiKey|Credential/.test(name)) return [604, 605];
  return name.endsWith('Domain') ? [420, 421] : [90024, 90025];
};

const texts: HostileCase[] = names
  .filter((name) => 'description' in writings[name].members)
  .flatMap((name) => [
    wrong(name, 'description', LONG, family(name)[0], { title: 'description of 256 bytes' }),
    wrong(name, 'metadata', VERY_LONG, family(name)[1], { title: 'metadata of 4097 bytes' }),
    wrong(name, 'description', 'a\0b', 215),
    wrong(name, 'metadata', '\ud83d', 215),
  ]);

const acl: HostileCase[] = [
  '',
  'bind',
  'bind:',
  'BIND:example.com',
  ' bind:example.com',
  'connect:example.com',
  '**',
  'bind:exa mple.com',
  'bind:example..com',
  'bind:.example.com',
  'bind:-example.com',
  'bind:ex*mple.com',
  'bind:*.*.example.com',
  'bind:*example.com',
  'bind:example.com:0',
  'bind:example.com:65536',
  'bind:example.com:080',
  'bind:example.com:',
  'bind::443',
  'bind:*:443',
  'bind:=value',
  'bind:key=',
  'bind:https://example.com',
  `bind:${'a'.repeat(64)}.com`,
  `bind:k=${'v'.repeat(1020)}`,
].flatMap((rule) => [
  wrong('createCredential', 'acl', [rule], 600, { blamed: 'acl[0]' }),
  wrong('updateCredential', 'acl', ['bind:example.com', rule], 600, { blamed: 'acl[1]' }),
]);

const breaker: HostileCase[] = (
  [
    ['tripped_duration', 0, 7016],
    ['rolling_window', 0, 7017],
    ['num_buckets', 0, 7018],
    ['num_buckets', 129, 7018],
    ['num_buckets', 4294967295, 7018],
    ['error_threshold_percentage', 1.01, 7011],
    ['error_threshold_percentage', -0.01, 7011],
    ['error_threshold_percentage', 100, 7011],
    ['error_threshold_percentage', 1.0000000000000002, 7011],
  ] as const
).flatMap(([member, value, number]) => [
  wrong('putBreaker', member, value, number),
  wrong('createRoute', `circuit_breaker.${member}`, value, number),
  wrong('updateRoute', `circuit_breaker.${member}`, value, number),
]);

const hostport = (text: string, number: number, status = 400): HostileCase[] =>
  (['createHttpsEdge', 'updateTlsEdge'] as const).map((name) =>
    wrong(name, 'hostports', [text], number, { blamed: 'hostports[0]', status }),
  );
const cloudUrl = (url: string, number: number, status = 400) =>
  wrong('createCloudEndpoint', 'url', url, number, { status });
const edges: HostileCase[] = [
  cloudUrl('', 90393),
  cloudUrl('ftp://a.world.example.com', 90393),
  cloudUrl('http://a.world.example.com:8080', 90393),
  cloudUrl('tcp://a.world.example.com', 90393),
  cloudUrl('tcp://a.world.example.com:22', 7114),
  cloudUrl('https://a.world.example.com/path', 90393),
  cloudUrl('https://a.world.example.com:8443', 90393),
  cloudUrl('https://a.elsewhere.example.com', 7117),
  cloudUrl('https://app.world.example.com', 18017, 409),
  cloudUrl('https://www.world.example.com', 7122, 409),
  wrong('createCloudEndpoint', 'bindings', ['internal'], 90397),
  wrong('createCloudEndpoint', 'bindings', ['kubernetes'], 90398),
  ...hostport('', 7104),
  ...hostport('www.world.example.com', 7104),
  ...hostport(':443', 7104),
  ...hostport('https://www.world.example.com:443', 7104),
  ...hostport('www.world.example.com:443/', 7104),
  ...hostport('www.world.example.com:-1', 7104),
  ...hostport('www.world.example.com:0', 7112),
  ...hostport('www.world.example.com:65536', 7112),
  ...hostport('www.world.example.com:99999999999999999999', 7112),
  ...hostport('www.world.example.com:80', 7116),
  ...hostport('www.world.example.com:8443', 7116),
  ...hostport('www.elsewhere.example.com:443', 7117),
  ...hostport('world.example.com:443', 7117),
  wrong('createTlsEdge', 'hostports', ['www.world.example.com:443'], 7122, { blamed: 'hostports[0]', status: 409 }),
  wrong('createTlsEdge', 'hostports', ['a.world.example.com:443', 'A.world.example.com:443'], 90050, {
    blamed: 'hostports[1]',
  }),
  wrong('updateHttpsEdge', 'hostports', Array(101).fill('a.world.example.com:443'), 7129),
];

const match = (text: string, number: number): HostileCase[] =>
  (['createRoute', 'updateRoute'] as const).map((name) => wrong(name, 'match', text, number));
const routes: HostileCase[] = [
  wrong('createRoute', 'match', '', 7123),
  ...match('api', 7131),
  ...match('/api?x=1', 7131),
  ...match('/api#top', 7131),
  ...match('/a b', 7131),
  ...match('/a\nb', 7131),
  ...match('/a\u0085b', 7131),
  ...match('https://example.com/', 7131),
  ...match(`/${'é'.repeat(512)}`, 7135),
  wrong('createRoute', '', undefined, 7126, {
    title: 'a match that another route has',
    blamed: '',
    status: 409,
    body: () => ({ match_type: 'path_prefix', match: '/' }),
  }),
];

const labels = (value: object, number: number, blamed = 'labels'): HostileCase[] =>
  (['createBackend', 'updateBackend'] as const).map((name) => wrong(name, 'labels', value, number, { blamed }));
const backends: HostileCase[] = [
  wrong('createBackend', 'labels', {}, 90054),
  ...labels(Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v'])), 6508),
  ...labels({ '': 'v' }, 6509),
  ...labels({ 'a=b': 'v' }, 6509),
  ...labels({ [LONG]: 'v' }, 6509),
  ...labels({ k: '' }, 6510),
  ...labels({ k: LONG }, 6510),
  ...labels({ k: '\ud800' }, 215, 'labels.k'),
  ...labels({ 'k\0': 'v' }, 215),
  wrong('createBackend', 'labels', undefined, 90007),
];

/** Ids inside a body: unknown, of the wrong kind, malformed. */
const strangers = (prefix: 'ca' | 'bkdtg' | 'ed' | 'usr') => [newId(prefix), newId('cr'), 'x', '', `${prefix}_`, LONG];
const references: HostileCase[] = [
  ...strangers('usr')
    .filter((id) => id !== '') // Stands for "not given".
    .flatMap((id) => [wrong('createCredential', 'owner_id', id, 90029), wrong('createApiKey', 'owner_id', id, 90029)]),
  ...strangers('ca').map((id) =>
    wrong('putTlsMutualTls', 'certificate_authority_ids', [id], 7072, { blamed: 'certificate_authority_ids[0]' }),
  ),
  ...strangers('ed').map((id) =>
    wrong('createSubscription', 'destination_ids', [id], 5103, { blamed: 'destination_ids[0]' }),
  ),
  ...strangers('bkdtg').map((id) => wrong('putRouteBackend', 'backend_id', id, id === '' ? 6526 : 6501)),
  wrong('putTlsBackend', 'backend_id', undefined, 6526),
  wrong('putTcpBackend', 'backend_id', undefined, 6526),
  ...[0, 19_999, 30_000, 65_536].map((port) => wrong('createAddress', 'port', port, 90326)),
  wrong('createAddress', 'region', 'south pole', 400),
  wrong('createIngress', 'domain', '*.ingress.example.com', 90721),
  wrong('createIngress', 'domain', 'x', 448),
  wrong('createOperator', 'enabled_features', ['Bindings'], 90613, { blamed: 'enabled_features[0]' }),
  wrong('createOperator', 'enabled_features', Array(17).fill('x'), 90615),
  wrong('createOperator', 'region', 'x'.repeat(256), 90614),
  wrong('createOperator', 'binding', { csr: 'x' }, 90613),
  wrong('createOperator', 'binding', { endpoint_selectors: ['true'] }, 90613),
  wrong('createOperator', 'deployment', { name: 'x'.repeat(256) }, 90614, { blamed: 'deployment.name' }),
  wrong('updateTcpEdge', 'hostports', ['tunnel.localhost:1'], 7114, { blamed: 'hostports[0]' }),
  wrong('updateTlsEdge', 'backend.backend_id', newId('bkdtg'), 6501),
  wrong('updateTlsEdge', 'backend', {}, 6526, { blamed: 'backend.backend_id' }),
  wrong('putTlsMutualTls', 'certificate_authority_ids', [], 90052),
  wrong('putHttpsMutualTls', 'certificate_authority_ids', undefined, 90052),
  wrong('putHttpsMutualTls', 'certificate_authority_ids', Array(11).fill(newId('ca')), 7075),
  wrong('putTlsMutualTls', 'certificate_authority_ids', ({ ids }: World) => [ids.authority, ids.authority], 90053, {
    blamed: 'certificate_authority_ids[1]',
  }),
  wrong('createSubscription', 'destination_ids', ({ ids }: World) => [ids.destination, ids.destination], 90067, {
    blamed: 'destination_ids[1]',
  }),
  wrong('updateSubscription', 'destination_ids', Array(101).fill(newId('ed')), 5126),
];

const events: HostileCase[] = [
  ...['', 'domain_created', 'domain_created.v1', 'DOMAIN_CREATED.v0', 'toString', '__proto__'].flatMap((type) => [
    wrong('createSource', 'type', type, 238),
    wrong('createSubscription', 'sources', [{ type }], 238, { blamed: 'sources[0].type' }),
  ]),
  wrong('createSource', 'type', 'domain_created.v0', 90068, { status: 409, blamed: '' }),
  wrong('updateSubscription', 'sources', [{ type: 'user_created.v0' }, { type: 'user_created.v0' }], 5127, {
    blamed: 'sources[1].type',
  }),
  wrong('createSubscription', 'sources', [{}], 90007, { blamed: 'sources[0].type' }),
  wrong('createSubscription', 'sources', [{ type: 'user_created.v0', nonsense: 'x' }], 214, {
    blamed: 'sources[0].nonsense',
  }),
  wrong('updateSource', 'type', 'user_created.v0', 215),
  ...(['createSource', 'updateSource'] as const).flatMap((name) => [
    wrong(name, 'fields', ['conn'], 5401),
    wrong(name, 'filter', 'true', 5402),
    wrong(name, 'sample_rate', 0.5, 90076),
  ]),
  ...(
    [
      ['fields', ['conn.client_ip', 'conn.end_ts'], 90077, 'fields[1]'],
      ['fields', ['http.req'], 90077, 'fields[0]'],
      ['fields', [''], 90077, 'fields[0]'],
      ['fields', ['__proto__'], 90077, 'fields[0]'],
      ['fields', ['conn', 'tls', 'conn'], 90078, 'fields[2]'],
      ['fields', Array(101).fill('conn'), 90079, 'fields'],
      ['filter', 'ev.conn.client_ip ==', 90083, 'filter'],
      ['filter', 'ev.nonsense == 1', 90083, 'filter'],
      ['filter', `"${'é'.repeat(2048)}" == ""`, 90082, 'filter'],
      ['sample_rate', 0, 90084, 'sample_rate'],
      ['sample_rate', -0.5, 90084, 'sample_rate'],
      ['sample_rate', 1.01, 90084, 'sample_rate'],
    ] as const
  ).map(([member, value, number, blamed]) =>
    wrong('createSubscription', 'sources', [{ type: 'http_request_complete.v0', [member]: value }], number, {
      blamed: `sources[0].${blamed}`,
    }),
  ),
];

const bots: HostileCase[] = (['createBotUser', 'updateBotUser'] as const).flatMap((name) => [
  wrong(name, 'name', '', 4109),
  wrong(name, 'name', ' \t ', 4109),
  wrong(name, 'name', LONG, 4110),
  wrong(name, 'name', 'a\0', 215),
  wrong(name, 'name', '\udfff', 215),
]);
bots.push(wrong('createBotUser', 'name', 'bot of the world', 4112, { status: 409, blamed: '' }));

export const wrongValues = [
  ...texts,
  ...acl,
  ...breaker,
  ...edges,
  ...routes,
  ...backends,
  ...wrongBackends,
  ...references,
  ...events,
  ...bots,
  ...wrongAuthorities,
  ...wrongKeys,
  ...wrongModules,
];

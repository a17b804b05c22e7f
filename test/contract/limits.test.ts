// Every limit: what lies on it is taken, stored and given back as it was; what lies one beyond is refused and changes
// nothing.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLong } from '../support/shortened.ts';
import type { Ids, Outcome } from './doors.ts';
import { withMember } from './hostile/case.ts';
import { type WritingName, writings } from './hostile/operations.ts';
import { anyRoute } from './rows/rows.ts';
import { shapes } from './shapes.ts';
import { makeWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world?.close());

const doors = ['rest', 'graphql'] as const;
/** Both lead to the same resolvers: in `npm test` one of two cases that differ in the door is left out, of each door as many. */
const atSomeDoor = <T>(cases: T[]) => (isLong ? cases : cases.filter((_, index) => index % 4 === 0 || index % 4 === 3));
type DoorName = (typeof doors)[number];
const other = (door: DoorName) => (door === 'rest' ? 'graphql' : 'rest');

/** Texts of exactly so many bytes, of another kind at each door; what goes in by one is read by the other. */
const texts: Record<DoorName, (bytes: number) => string> = {
  rest: (bytes) => '界'.repeat(bytes / 3) + 'x'.repeat(bytes % 3),
  graphql: (bytes) => '👩‍🚀'.repeat(bytes / 11) + 'x'.repeat(bytes % 11),
};

/** Where an object is read, by the name of its creation. */
const kinds = {
  createCredential: ['credential', 604, 605],
  createApiKey: ['apiKey', 604, 605],
  createDomain: ['reservedDomain', 420, 421],
  createBackend: ['tunnelGroupBackend', 90024, 90025],
  createWeighted: ['weightedBackend', 90024, 90025],
  createFailover: ['failoverBackend', 90024, 90025],
  createResponse: ['httpResponseBackend', 90024, 90025],
  createStatic: ['staticBackend', 90024, 90025],
  createAuthority: ['certificateAuthority', 90024, 90025],
  createCertificate: ['tlsCertificate', 90024, 90025],
  createIpPolicy: ['ipPolicy', 90024, 90025],
  createIpPolicyRule: ['ipPolicyRule', 90024, 90025],
  createVault: ['vault', 90024, 90025],
  createSecret: ['secret', 90024, 90025],
  createDestination: ['eventDestination', 90024, 90025],
  createSubscription: ['eventSubscription', 90024, 90025],
  createHttpsEdge: ['httpsEdge', 90024, 90025],
  createTlsEdge: ['tlsEdge', 90024, 90025],
  createTcpEdge: ['tcpEdge', 90024, 90025],
  createAddress: ['reservedAddress', 90024, 90025],
} as const;

type Kind = keyof typeof kinds;
const updateOf = (kind: Kind) => kind.replace('create', 'update') as WritingName;

/** Creates an object through a door, or has it updated there. */
async function write(door: DoorName, name: WritingName, body: object, ids: Ids = {}): Promise<Outcome> {
  return world.doors[door](
    world.account,
    { ...writings[name], shape: `id ${/Domain/.test(name) ? 'domain' : ''}` },
    ids,
    body,
  );
}

async function read(door: DoorName, kind: Kind, id: string, member: string): Promise<unknown> {
  const { path } = writings[kind];
  const asked = { method: 'GET', path: `${path}/{id}`, status: 200, field: kinds[kind][0], shape: member } as const;
  const { body, status, message } = await world.doors[door](world.account, asked, { id });
  expect(status, message).toBe(200);
  return body[member];
}

let made = 0;
const good = (kind: Kind) => {
  const body = writings[kind].good(world);
  if (kind === 'createDomain') return { ...body, domain: `limit-${++made}.example.com` };
  if (kind === 'createVault' || kind === 'createSecret') return { ...body, name: `limit-${++made}` };
  return kind === 'createIpPolicyRule' ? { ...body, cidr: `2001:db8:${++made}::/48` } : body;
};

const limitsOfTexts = (Object.keys(kinds) as Kind[]).flatMap((kind) =>
  (
    [
      ['description', 255, kinds[kind][1]],
      ['metadata', 4096, kinds[kind][2]],
    ] as const
  ).flatMap(([member, max, number]) => doors.map((door) => ({ kind, member, max, number, door }))),
);

describe('texts are limited in bytes', () => {
  // In `npm test`, one of both texts of each kind: they are members of one and the same scalar.
  test.each(isLong ? limitsOfTexts : atSomeDoor(limitsOfTexts).filter((_, i) => i % 4 === 0 || i % 4 === 3))(
    '$kind $member: $max bytes through $door',
    async ({ kind, member, max, number, door }) => {
      const text = texts[door](max);
      expect(Buffer.byteLength(text)).toBe(max);
      const created = await write(door, kind, { ...good(kind), [member]: text });
      expect(created).toMatchObject({ status: 201 });
      const { id } = created.body;
      expect(await read(other(door), kind, id, member)).toBe(text);

      const refusal = {
        status: 400,
        errorCode: `ERR_GATEWAY_${number}`,
        message: expect.stringContaining(String(max)),
      };
      const beyond = { [member]: `${text}x` };
      expect(await write(door, kind, { ...good(kind), ...beyond })).toMatchObject(refusal);
      expect(await write(door, updateOf(kind), beyond, { id })).toMatchObject(refusal);
      expect(await read(door, kind, id, member)).toBe(text);
    },
  );
});

describe('the circuit breaker has limits', () => {
  const UINT32_MAX = 4_294_967_295;
  const limits: [member: string, within: number[], beyond: [value: number, code: number][]][] = [
    [
      'tripped_duration',
      [1, UINT32_MAX],
      [
        [0, 7016],
        [UINT32_MAX + 1, 215],
        [-1, 215],
        [1.5, 215],
      ],
    ],
    [
      'rolling_window',
      [1, UINT32_MAX],
      [
        [0, 7017],
        [UINT32_MAX + 1, 215],
        [-1, 215],
        [1.5, 215],
      ],
    ],
    [
      'num_buckets',
      [1, 128],
      [
        [0, 7018],
        [129, 7018],
        [UINT32_MAX + 1, 215],
        [-1, 215],
        [127.5, 215],
      ],
    ],
    [
      'volume_threshold',
      [0, UINT32_MAX],
      [
        [UINT32_MAX + 1, 215],
        [-1, 215],
        [0.5, 215],
      ],
    ],
    [
      'error_threshold_percentage',
      [0, 1, 0.1, 1 / 3, Number.MIN_VALUE, 1 - Number.EPSILON / 2],
      [
        [1.01, 7011],
        [1 + Number.EPSILON, 7011],
        [-0.01, 7011],
        [-Number.MIN_VALUE, 7011],
        [100, 7011],
      ],
    ],
  ];
  const cases = limits.flatMap(([member, within, beyond]) => doors.map((door) => ({ member, within, beyond, door })));

  test.each(atSomeDoor(cases))('$member through $door', async ({ member, within, beyond, door }) => {
    const ids = await anyRoute()(world);
    const put = (value: number) =>
      world.doors[door](world.account, { ...writings.putBreaker, shape: member }, ids, { [member]: value });
    const look = { ...writings.putBreaker, method: 'GET', field: 'httpsEdgeRouteCircuitBreaker' } as const;
    const get = async () => {
      const { body } = await world.doors[other(door)](world.account, { ...look, shape: shapes.circuitBreaker }, ids);
      return body[member];
    };
    for (const value of within) {
      expect(await put(value)).toMatchObject({ status: 200, body: { [member]: value } });
      expect(await get()).toBe(value);
    }
    for (const [value, code] of beyond) {
      expect(await put(value), String(value)).toMatchObject({ status: 400, errorCode: `ERR_GATEWAY_${code}` });
    }
    expect(await get()).toBe(within.at(-1));
  });
});

describe('lists and names have limits of ours', () => {
  const rule = (bytes: number) => `bind:k=${'v'.repeat(bytes - 7)}`;
  const label = `${'é'.repeat(127)}x`;
  const name = `${`${'a'.repeat(61)}.`.repeat(3)}${'b'.repeat(55)}`; // With ".example.com", 253 bytes.
  const limits: [what: string, kind: WritingName, member: string, within: unknown, beyond: unknown, code: number][] = [
    ['500 rules', 'createCredential', 'acl', Array(500).fill('*'), Array(501).fill('*'), 90028],
    ['rules of 1,024 bytes', 'createCredential', 'acl', [rule(1024)], [rule(1025)], 600],
    ['the highest port', 'createCredential', 'acl', ['bind:a.example.com:65535'], ['bind:a.example.com:65536'], 600],
    ['names of 255 bytes', 'createBotUser', 'name', label, `${label}x`, 4110],
    [
      'parts of 63 bytes',
      'createDomain',
      'domain',
      `${'a'.repeat(63)}.example.com`,
      `${'a'.repeat(64)}.example.com`,
      513,
    ],
    ['names of 253 bytes', 'createDomain', 'domain', `${name}.example.com`, `${name}b.example.com`, 514],
    ['regions of 64 bytes', 'createDomain', 'region', 'x'.repeat(64), 'x'.repeat(65), 400],
    ['keys of labels of 255 bytes', 'createBackend', 'labels', { [label]: 'x' }, { [`${label}x`]: 'x' }, 6509],
    ['values of labels of 255 bytes', 'createBackend', 'labels', { x: label }, { x: `${label}x` }, 6510],
    ['16 labels', 'createBackend', 'labels', manyLabels(16), manyLabels(17), 6508],
    ['a body of 32 KiB', 'createResponse', 'body', 'é'.repeat(16_384), `x${'é'.repeat(16_384)}`, 6516],
    ['a match of 1,024 bytes', 'createRoute', 'match', `/${'a'.repeat(1023)}`, `/${'a'.repeat(1024)}`, 7135],
    ['tags of 4,096 bytes', 'createDestination', 'target.datadog.ddtags', 'é'.repeat(2048), 'é'.repeat(2049), 90061],
    ['a service of 255 bytes', 'createDestination', 'target.datadog.service', label, `${label}x`, 90061],
    [
      'secrets of 1,024 bytes',
      'createDestination',
      'target.datadog.api_key',
      'k'.repeat(1024),
      'k'.repeat(1025),
      90061,
    ],
  ];

  test.each(limits)('%s: %s', async (_, kind, member, within, beyond, code) => {
    const top = member.split('.')[0] ?? '';
    const shape = top === 'target' ? shapes.destination : `id ${top}`;
    const asked = { ...writings[kind], shape };
    const body = (value: unknown) => withMember(writings[kind].good(world), member, value);
    const ids = writings[kind].ids(world);
    for (const door of doors) {
      const refused = await world.doors[door](world.account, asked, ids, body(beyond));
      expect(refused).toMatchObject({ status: 400, errorCode: `ERR_GATEWAY_${code}` });
    }
    const created = await world.doors.rest(world.account, asked, ids, body(within));
    expect(created, created.message).toMatchObject({ status: 201 });
    expect(member.split('.').reduce((value, step) => value[step], created.body)).toEqual(within);
  });

  test('a body may have 64 KiB', async () => {
    const padded = `{}${' '.repeat(64 * 1024 - 2)}`;
    expect(await world.account.call('POST', '/credentials', padded)).toMatchObject({ status: 201 });
    expect(await world.account.call('POST', '/credentials', `${padded} `)).toMatchObject({ status: 413 });
  });
});

function manyLabels(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'value']));
}

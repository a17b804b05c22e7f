// A request that must be refused, and how.

import type { Ids } from '../doors.ts';
import type { Type, Writing } from '../rows/writing.ts';
import type { World } from '../world.ts';
import { type WritingName, writings } from './operations.ts';

export interface HostileCase {
  title: string;
  writing: Writing;
  ids(world: World): Ids;
  body(world: World): object | Promise<object>;
  status: number;
  /** Behind `ERR_GATEWAY_`. */
  number: number;
  /** The member to blame, in the words of REST. */
  member?: string;
  /** Set when the other door takes it, or has no way to say it. */
  only?: 'rest' | 'graphql';
}

type Value = unknown | ((world: World) => unknown);

const isFunction = (value: Value): value is (world: World) => unknown => typeof value === 'function';

/** A good body of an operation with one member made wrong. */
export function wrong(
  name: WritingName,
  member: string,
  value: Value,
  number: number,
  { blamed = member, status = 400, title, ...more }: Partial<HostileCase> & { blamed?: string } = {},
): HostileCase {
  const writing = writings[name];
  const said =
    title ?? `${member} = ${isFunction(value) ? 'another’s' : (JSON.stringify(value) ?? 'left out').slice(0, 60)}`;
  return {
    title: `${name}: ${said}`,
    writing,
    ids: writing.ids,
    body: (world) => withMember(writing.good(world), member, isFunction(value) ? value(world) : value),
    status,
    number,
    member: blamed,
    ...more,
  };
}

/** A copy of a body in which a member, given by its path, has another value; undefined takes it out. */
export function withMember(body: object, path: string, value: unknown): object {
  const [name = '', ...rest] = path.split('.');
  const old = (body as Record<string, unknown>)[name];
  return { ...body, [name]: rest.length === 0 ? value : withMember((old ?? {}) as object, rest.join('.'), value) };
}

const WRONG_TYPE = 215;
const MISSING = 90007;

/** Values that are not of a type; GraphQL takes one value for a list of one, and a number for an id. */
const notOf: Record<Type, unknown[]> = {
  string: [5, true, {}, ['x']],
  enum: [5, {}, ['exact_path'], 'regex', 'EXACT_PATH'],
  id: [1.5, true, {}, ['x']],
  strings: [{}, [5], [['x']], [{}]],
  ids: [{}, [true], [{}]],
  boolean: ['true', 1, 0, {}, [true]],
  timestamp: [5, true, {}, ['x'], 'tomorrow', '2026-13-01T00:00:00Z'],
  uint32: ['5', 1.5, -1, 4294967296, 1e21, true, {}, [5]],
  number: ['0.5', true, {}, [0.5]],
  object: ['x', 5, true, []],
  objects: ['x', [5], [[]]],
  int: ['5', 1.5, 1e21, true, {}, [5]],
  weights: ['x=1', [], [{ x: 1 }], { x: '1' }, { x: 0.5 }, { x: null }],
  labels: ['app=shop', [], [{ app: 'shop' }], { app: 5 }, { app: null }, { app: { x: 'y' } }],
};

/** Every member of every operation, with values of every other type. */
export const wrongTypes: HostileCase[] = Object.keys(writings).flatMap((key) => {
  const name = key as WritingName;
  return Object.entries(writings[name].members).flatMap(([member, type]) => [
    ...notOf[type].map((value) => wrong(name, member, value, WRONG_TYPE, { blamed: blamedFor(member, type, value) })),
    // In REST it stands for "not given".
    ...(type === 'enum' ? [wrong(name, member, '', WRONG_TYPE, { only: 'graphql' })] : []),
    ...restOnly(type).map((value) => wrong(name, member, value, WRONG_TYPE, { only: 'rest' })),
    ...(type === 'strings' || type === 'ids' || type === 'objects'
      ? [wrong(name, member, [null], MISSING, { blamed: `${member}[0]` })]
      : []),
  ]);
});

function restOnly(type: Type): unknown[] {
  return type === 'strings' || type === 'ids' ? ['x', 5] : [];
}

/** A list is blamed by the place of the item that is wrong. */
function blamedFor(member: string, type: Type, value: unknown): string {
  const isList = type === 'strings' || type === 'ids' || type === 'objects';
  return isList && Array.isArray(value) ? `${member}[0]` : member;
}

/** The objects of every operation, with a member that nobody knows. */
export const unknownMembers: HostileCase[] = Object.keys(writings).flatMap((key) => {
  const name = key as WritingName;
  const places = Object.entries(writings[name].members).filter(([, type]) => type === 'object');
  return ['', ...places.map(([member]) => `${member}.`)].map((place) =>
    wrong(name, `${place}nonsense`, null, 214, {
      title: `unknown member ${place}nonsense`,
      blamed: `${place}nonsense`,
    }),
  );
});

/** Members that are required, left out and null. */
export const missingMembers: HostileCase[] = (
  [
    ['createBotUser', 'name'],
    ['createDomain', 'domain'],
    ['createRoute', 'match'],
    ['createRoute', 'match_type'],
    ['createSource', 'type'],
    ['createAuthority', 'ca_pem'],
    ['createCertificate', 'certificate_pem'],
    ['createCertificate', 'private_key_pem'],
    ['createIngress', 'domain'],
    ['createVault', 'name'],
    ['createSecret', 'name'],
    ['createSecret', 'value'],
    ['createIpPolicyRule', 'ip_policy_id'],
    ['createIpPolicyRule', 'cidr'],
    ['createIpPolicyRule', 'action'],
    ['createIpRestriction', 'type'],
    ['createIpRestriction', 'ip_policy_ids'],
  ] as const
).flatMap(([name, member]) => [undefined, null].map((value) => wrong(name, member, value, MISSING)));

/** A number in place of an id: GraphQL has it so, but what is JSON by contract names objects by strings. */
export const numbersForIds: HostileCase[] = Object.keys(writings).flatMap((key) => {
  const name = key as WritingName;
  return Object.entries(writings[name].members).flatMap(([member, type]) => {
    if (type === 'id') return [wrong(name, member, 5, WRONG_TYPE, { only: 'rest' })];
    return type === 'ids' ? [wrong(name, member, [5], WRONG_TYPE, { only: 'rest', blamed: `${member}[0]` })] : [];
  });
});

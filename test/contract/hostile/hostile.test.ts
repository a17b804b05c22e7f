// Hostile requests: each gets its documented error, and nothing of them reaches the database.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../src/store/ids.ts';
import type { TestGateway } from '../../support/gateway/gateway.ts';
import { isLong } from '../../support/shortened.ts';
import { camelCase, type Door, type Outcome } from '../doors.ts';
import { makeWorld, type World } from '../world.ts';
import { type HostileCase, missingMembers, numbersForIds, unknownMembers, wrongTypes } from './case.ts';
import { hostileQueries } from './graphql.ts';
import { wrongListed } from './listed.ts';
import { reservedByOthers, wrongNames } from './names.ts';
import { writings } from './operations.ts';
import { hostileRequests } from './requests.ts';
import { wrongValues } from './values.ts';
import { hostileBytes } from './wire.ts';

let world: World;
let before: Record<string, string>;
let requests = 0;
beforeAll(async () => {
  world = await makeWorld();
  const other = await world.gateway.newAccount();
  expect(await other.call('POST', '/reserved_domains', { domain: reservedByOthers })).toMatchObject({ status: 201 });
  before = await tableHashes(world.gateway);
});
afterAll(() => world?.close());

const code = (number: number) => `ERR_GATEWAY_${number}`;

async function refuses(it: HostileCase, name: 'rest' | 'graphql'): Promise<void> {
  requests++;
  const door: Door = world.doors[name];
  // Only the error is looked at, but GraphQL wants something to be selected.
  const outcome = await door(
    world.account,
    { ...it.writing, shape: selectable(it) },
    it.ids(world),
    await it.body(world),
  );
  expect(outcome, outcome.message).toMatchObject({ status: it.status, errorCode: code(it.number) });
  if (it.member && it.status === 400) blames(outcome, name === 'rest' ? it.member : camelCase(it.member));
}

function selectable({ writing: { field } }: HostileCase): string {
  return /replace/.test(field) ? 'enabled' : /Source/.test(field) ? 'type' : 'id';
}

function blames({ message, member }: Outcome, culprit: string): void {
  expect(message).toContain(culprit);
  if (member !== undefined) expect(member).toBe(culprit);
}

/** Each is one test at each door: there are thousands of cases. */
const byOperation: [string, HostileCase[]][] = [
  ['a member of another type', wrongTypes],
  ['an unknown member', unknownMembers],
];
const each: [string, HostileCase[]][] = [
  ['a required member left out', missingMembers],
  ['a wrong value', wrongValues],
  ['a wrong target or name', wrongNames],
  ['a wrong certificate or network', wrongListed],
];
/** The run that is about the other way into GraphQL leaves out what does not go in there. */
const onlyGraphql = process.env.GATEWAY_TEST_ONLY_YOGA === '1';
const doors = onlyGraphql ? (['graphql'] as const) : (['rest', 'graphql'] as const);
/**
 * Both doors lead to the same resolvers: `npm test` takes each case through one of them, and `npm run soak -- long` through both.
 * @param step one of so many cases is taken.
 */
const casesAt = (cases: HostileCase[], door: 'rest' | 'graphql', step = 1) =>
  cases.filter(({ only }, i) => {
    if (onlyGraphql) return i % 3 === 0 && only !== 'rest'; // What is refused is refused behind both ways.
    if (only !== undefined || isLong) return only === undefined || only === door;
    return i % step === 0 && door === doors[(i / step) % doors.length];
  });

/**
 * What is wrong in the same way in several operations, as a text too long is, `npm test` sends to a third of them: other rules to
 * others, so that each rule is tried, and nearly each operation.
 */
function thinned(cases: HostileCase[]): HostileCase[] {
  if (isLong) return cases;
  const byRule = new Map<string, HostileCase[]>();
  for (const it of cases) {
    const rule = `${it.title.replace(/^\w+: /, '')} ${it.number} ${it.only}`;
    byRule.set(rule, [...(byRule.get(rule) ?? []), it]);
  }
  return [...byRule.values()].flatMap((same, turn) =>
    same.filter((_, index) => index % 3 === turn % Math.min(same.length, 3)),
  );
}

describe.each(byOperation)('%s is refused', (_, cases) => {
  const names = new Set(cases.map(({ writing }) => writing.field));
  const tests = doors.flatMap((door) =>
    [...names].map(
      // Of most members, one value: what is of no type is refused by the schema.
      (name) => [name, door, casesAt(cases, door, 7).filter(({ writing }) => writing.field === name)] as const,
    ),
  );
  test.each(tests.filter(([, , found]) => found.length > 0))('%s through %s', async (_, door, found) => {
    for (const it of found) await expect(refuses(it, door), it.title).resolves.toBeUndefined();
  });
});

test.skipIf(onlyGraphql)('a number in place of an id is refused through REST', async () => {
  for (const it of thinned(numbersForIds)) await expect(refuses(it, 'rest'), it.title).resolves.toBeUndefined();
});

describe.each(each)('%s is refused', (_, cases) => {
  const tests = doors.flatMap((door) =>
    casesAt(thinned(cases), door).map((it) => [it.title, door, it.number, it] as const),
  );
  test.each(tests)('%s through %s → %i', (_, door, __, it) => refuses(it, door));
});

const withId = Object.entries(writings).filter(([, { path }]) => path.includes('{'));
const badIds = [
  'x',
  '%',
  '\0',

  'cr_',
  `${'x'.repeat(3000)}`,
  '../../credentials',
  'Ω',
  "' OR 1=1 --",
  newId('op'),
];

/** In `npm test` each operation has one of them, at one door: ids are looked up by the same code. */
const badIdsOf = (turn: number) => {
  const all = badIds.flatMap((id) => doors.map((door) => ({ id, door })));
  return isLong ? all : all.filter((_, index) => index === turn % all.length);
};

describe('an id in a path that is none is not found', () => {
  test.each(withId.map(([name, writing], turn) => [name, writing, badIdsOf(turn)] as const))(
    '%s',
    async (_, writing, tried) => {
      const shape = selectable({ writing } as HostileCase);
      for (const parameter of Object.keys(writing.ids(world)).filter((name) => name !== 'type')) {
        for (const { id, door } of tried) {
          requests++;
          const ids = { ...writing.ids(world), [parameter]: id };
          const outcome = await world.doors[door](world.account, { ...writing, shape }, ids, writing.good(world));
          expect(outcome, `${door}, ${parameter} = ${id}`).toMatchObject({ status: 404, errorCode: code(90020) });
        }
      }
    },
  );
});

describe.skipIf(onlyGraphql)('a request that is none is refused', () => {
  test.each(hostileRequests.map((it) => [it.title, it.number, it] as const))('%s → %i', async (_, __, it) => {
    requests++;
    expect(await it.send(world)).toMatchObject({ status: it.status, body: { error_code: code(it.number) } });
  });
});

describe('a GraphQL operation is refused', () => {
  test.each(hostileQueries.map((it) => [it.title, it.number, it] as const))('%s → %i', async (_, __, it) => {
    requests++;
    const { query, variables, number } = it;
    const { body } = await world.account.graphql(query, typeof variables === 'function' ? variables(world) : variables);
    expect(Object.values(body.data ?? {}).filter((value) => value !== null)).toEqual([]);
    expect(body.errors[0]).toMatchObject({ extensions: { errorCode: code(number), code: it.code } });
  });
});

describe('what is wrong already as HTTP, or as GraphQL over HTTP, is refused', () => {
  test.each(hostileBytes.map((it) => [it.title, it.status, it] as const))('%s → %i', async (_, __, it) => {
    requests++;
    const errorCode = it.number === undefined ? undefined : code(it.number);
    expect(await it.send(world)).toEqual({ status: it.status, errorCode });
  });
});

test('an unknown member is the one that GraphQL says is to blame', async () => {
  requests++;
  const { writing } = unknownMembers[0] ?? expect.unreachable();
  const input = { ...writing.good(world), nonsense: null };
  const outcome = await world.doors.graphql(world.account, { ...writing, shape: 'id' }, writing.ids(world), input);
  expect(outcome).toMatchObject({ errorCode: code(214), member: 'nonsense' });
});

test('more than 150 requests were sent, and nothing in the database has changed', async () => {
  expect(requests).toBeGreaterThanOrEqual(150);
  expect(await tableHashes(world.gateway)).toEqual(before);
});

test('none of them met a failure of the gateway itself', () => {
  expect(world.gateway.logs.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
  expect(world.gateway.fatal).toEqual([]);
});

/** Tables that change by themselves: a node renews its lease. */
const TABLES_THAT_CHANGE = ['node'];

/** A column that every request changes. */
const COLUMN_OF_EACH_REQUEST = 'last_used_at';

/** The number of rows of every table, and a hash of them: whether the database was changed. */
async function tableHashes({ app }: TestGateway): Promise<Record<string, string>> {
  const tables = await app.prisma.$queryRaw<{ name: string }[]>`
    SELECT table_name::text AS name FROM information_schema.tables
    WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1`;
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    if (TABLES_THAT_CHANGE.includes(name)) continue;
    const [row] = await app.prisma.$queryRawUnsafe<{ found: string }[]>(
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(row::text, '|' ORDER BY row::text)), '') AS found
       FROM (SELECT to_jsonb(t) - '${COLUMN_OF_EACH_REQUEST}' AS row FROM "${name}" t) rows`,
    );
    found[name] = row?.found ?? '';
  }
  return found;
}

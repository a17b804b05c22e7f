// Every operation, by its method, path, body and status, with every member of its answer, through REST and GraphQL.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLong } from '../support/shortened.ts';
import { ingressRows } from './rows/agent-ingress.ts';
import { backendRows } from './rows/backend.ts';
import { certificateRows } from './rows/certificate.ts';
import { documentedRows } from './rows/documented.ts';
import { edgeModuleRows } from './rows/edge-module.ts';
import { eventRows } from './rows/event.ts';
import { ipPolicyRows } from './rows/ip-policy.ts';
import { operatorRows } from './rows/kubernetes-operator.ts';
import { otherRows } from './rows/module.ts';
import { crudRows } from './rows/neighbour.ts';
import type { Row } from './rows/rows.ts';
import { vaultRows } from './rows/vault.ts';
import { visitorRows } from './rows/visitor.ts';
import { makeWorld, type World } from './world.ts';

/** The run that is about the other way into GraphQL. */
const onlyGraphql = process.env.GATEWAY_TEST_ONLY_YOGA === '1';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world?.close());

/** What is read is read at both doors; what changes something is, in `npm test`, asked at one of them, in turn. */
async function isAnswered(row: Row, turn: number): Promise<void> {
  let ids = await row.at(world);
  if (onlyGraphql) return void (await ask(row, 'graphql'));
  if (row.method !== 'GET' && !isLong) return void (await ask(row, turn % 2 === 0 ? 'rest' : 'graphql'));
  const rest = await ask(row, 'rest');
  if (row.method === 'DELETE' || row.atEach) ids = await row.at(world);
  const graphql = await ask(row, 'graphql');
  // What both doors did to, or read of, the same object is the same; what each created differs in id and names.
  if (row.method !== 'POST') expect(timeless(graphql)).toStrictEqual(timeless(rest));

  /** A change at the second door may be a second later. */
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
  function timeless(body: any) {
    return row.method === 'PATCH' ? { ...body, updated_at: undefined } : body;
  }

  async function ask(row: Row, name: 'rest' | 'graphql') {
    const body = row.body?.(world, name, ids);
    const path = row.path.replace(/\/\{id\}$/, '');
    const outcome = await world.doors[name](world.account, row, ids, body);
    const { status, errorCode, message } = outcome;
    expect({ status, errorCode }, message).toEqual({ status: row.status, errorCode: null });
    if (row.aliasOf && name === 'graphql' && outcome.body)
      outcome.body = JSON.parse(JSON.stringify(outcome.body).replaceAll(world.uri(row.aliasOf), world.uri(path)));
    expect(outcome.body).toStrictEqual(row.answer?.(world, outcome.body, name, ids));
    if (row.method === 'DELETE' && !row.isPart) await isGone(row);
    return outcome.body;
  }

  async function isGone(row: Row): Promise<void> {
    const look = { ...row, method: 'GET' } as const;
    expect(await world.doors.rest(world.account, look, ids)).toMatchObject({ status: 404 });
  }
}

// Lists come first: they show the whole world, to which the others add.
const inOrder = (rows: Row[]) => [...rows.filter(({ list }) => list), ...rows.filter(({ list }) => !list)];

const allRows = [
  ...documentedRows,
  ...crudRows,
  ...otherRows,
  ...certificateRows,
  ...backendRows,
  ...ipPolicyRows,
  ...vaultRows,
  ...ingressRows,
  ...operatorRows,
  ...visitorRows,
  ...edgeModuleRows,
  ...eventRows,
];

describe('every operation answers as documented, the same at both doors', () => {
  const rows = inOrder(allRows);
  test.each(rows.map((row, turn) => [row.title, row.status, row, turn] as const))('%s → %i', (_, __, row, turn) =>
    isAnswered(row, turn),
  );
});

test('the tables hold every operation that the API has', async () => {
  const { body } = await world.account.call('GET', '/openapi.json?dialect=extended');
  // Downloads of lists are no rows: see export.test.ts.
  const paths = Object.entries<object>(body.paths).filter(([path]) => !path.startsWith('/export/'));
  const known = paths.flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const told = allRows.map(({ method, path }) => `${method} ${path}`);
  const documents = ['GET /', 'GET /openapi.json'];
  expect(new Set([...told, ...documents])).toEqual(new Set(known));
});

// Generated over the schema and the table of routes: another account's things do not exist.

import { type GraphQLObjectType, getNamedType, isObjectType, isRequiredArgument } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { camelCase } from '../../src/api/naming.ts';
import { routes, schema } from '../../src/api/schema.ts';
import { newId } from '../../src/store/ids.ts';
import { type Owner, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import type { Answer } from '../support/gateway/http.ts';
import { type Subscription, subscribe } from '../support/gateway/sse.ts';
import { isLong, shortened } from '../support/shortened.ts';
import { type Field, fieldNamed, mutations, type Place, placesOf, queries, subscriptions } from './operations.ts';
import { documentOf, requestOf } from './requests.ts';
import { everyRow, fill, type Holder } from './sample-resources.ts';
import { type Pair, type Trial, trials } from './trials.ts';

let gateway: TestGateway;
/** Whose things are asked for. */
let other: Holder;
/** Who asks. It has things older and newer than all of the other's, so that a cursor of theirs lies between its own. */
let asking: Holder;
let member: Owner;
/** The asking account's subscriptions, opened before the other has anything; and what was made of its own after that. */
let opened: { field: Field; events: Subscription }[];
let newer: Holder;
let before: string[];

beforeAll(async () => {
  gateway = await startTestGateway();
  const account = await gateway.newAccount();
  asking = await fill(gateway, account);
  opened = await Promise.all(
    subscriptions
      .filter(isOfAll)
      .map(async (field) => ({ field, events: await subscribe(gateway.api, account.key, documentOf(field, {})) })),
  );
  other = await fill(gateway, await gateway.newAccount());
  newer = await fill(gateway, account);
  member = await account.addOwner();
  before = await everyRow(gateway);
}, 90_000);
afterAll(() => gateway.close());

/** Whether a subscription need not be told what to watch. Ids that it may be told leave some of the account's own changes. */
function isOfAll({ name, args }: Field): boolean {
  return /(Changed|Added)$/.test(name) && !args.some(isRequiredArgument);
}

/**
 * All of an answer that a client can see, but for the operation id, the moment and how often it asked. What was asked
 * for is blanked too where an error says it again, which those about hostports do: the client knows it.
 */
function seen({ status, headers, text }: Answer, pairs: Pair[]) {
  const { date, 'service-operation-id': id, 'ratelimit-remaining': left, 'ratelimit-reset': reset, ...rest } = headers;
  expect(id).toMatch(/^op_[0-9A-Za-z]{27}$/);
  const echoed = pairs.flat().map((text) => text.replace(/:443$/, ''));
  return {
    status,
    headers: rest,
    text: echoed.reduce((all, one) => all.replaceAll(one, '…'), text.replaceAll(String(id), 'op_…')),
  };
}

function expectNothingOfTheirs({ text }: Answer, pairs: Pair[]): void {
  const secrets = [other.account.accountId, other.account.ownerId, other.zone, ...Object.values(other.ids)];
  const sent = pairs.flat();
  for (const secret of secrets)
    if (!sent.some((value) => value.includes(secret)))
      expect(text, 'an answer to another account').not.toContain(secret);
}

/**
 * The answers to both requests are one and the same, whoever of them asks.
 * @returns the admin's.
 */
async function expectSame(
  owners: Owner[],
  ask: (owner: Owner, values: object) => Promise<Answer>,
  { theirs, never, pairs }: Trial,
): Promise<Answer | undefined> {
  let answered: Answer | undefined;
  for (const owner of owners) {
    const answer = await ask(owner, theirs);
    expect(seen(answer, pairs)).toEqual(seen(await ask(owner, never), pairs));
    expectNothingOfTheirs(answer, pairs);
    if (owner === asking.account) answered = answer;
  }
  return answered;
}

/** Who asks: a member, too, where something is to be changed. In `npm test`, once for each kind of place: whose things are found is asked of the account. */
function askersOf(trial: Trial): Owner[] {
  const both = [asking.account, member];
  if (!mutations.includes(trial.field)) return [asking.account];
  return isLong || isFirst(trial, triedByMember) ? both : [asking.account];
}
const triedByMember = new Set<string>();

/** What finds the thing that is named: a cursor, an id in the path or in the input, or several together. */
const kindOf = ({ places: [place, second] }: Trial) =>
  second ? 'together' : `${place?.role} ${(place?.path.length ?? 0) > 1}`;

/** Whether nothing of its kind was tried before; `more` tells kinds apart. */
function isFirst(trial: Trial, tried: Set<string>, more = ''): boolean {
  const kind = `${kindOf(trial)} ${more}`;
  if (tried.has(kind)) return false;
  tried.add(kind);
  return true;
}

/** In `npm test`, the first trial of each kind of place: the same code finds whatever inputs name. */
function chosen(all: Trial[]): Trial[] {
  if (isLong || all[0]?.field.name === 'node') return all;
  const tried = new Set<string>();
  return all.filter((trial) => isFirst(trial, tried));
}

/** Whether ids choose among the objects of a list. In REST, older clients alone have that: see dialects.test.ts. */
const isChoice = ({ field, places }: Trial) => field.name === 'endpoints' && places[0]?.path[0] === 'ids';

/** Lists that may have nothing behind a cursor. */
const SHORT = ['vaultSecrets', 'objectHistory', 'capturedRequests', 'kubernetesOperatorBoundEndpoints'];

describe.each(['queries', 'mutations'])('GraphQL %s', (which) => {
  const fields = (which === 'queries' ? queries : mutations).filter((field) => placesOf(field).length > 0);

  test.each(fields)('$name answers to another account’s id as to one that never existed', async (field) => {
    for (const trial of chosen([...trials(field, { asking, other })])) {
      const ask = ({ graphql }: Owner, values: object) => graphql(documentOf(field, values), values);
      const answer = await expectSame(askersOf(trial), ask, trial);
      if (!answer) continue;
      const { body } = answer;
      if (field.name === 'node') expect(body).toEqual({ data: { node: null } });
      else if (field.name === 'nodes') expect(body).toEqual({ data: { nodes: [null] } });
      else if (field.name === 'endpointTraffic') expect(body).toEqual({ data: { endpointTraffic: [] } });
      else if (isOfTrail(trial)) expect(body.data[field.name].nodes).toEqual([]);
      else if (field.name === 'commandAgents') expectNobodyTold(body.data.commandAgents.results);
      else if (trial.places[0]?.path[0] === 'credentialId' || isChoice(trial))
        expect(body.data[field.name].nodes).toEqual([]);
      // A vault of these tests holds one secret, and an object has one entry: it is older than the cursor, or newer. No request is
      // captured, and no endpoint is bound.
      else if (SHORT.includes(field.name) && isPage(trial))
        expect(body.data?.[field.name].pageInfo, JSON.stringify(body.errors)).toBeDefined();
      // Their order is another than by id, in which an id alone has no place where its object is not.
      else if (['runningCaptures', 'allEndpoints'].includes(field.name))
        expect(body.errors[0].extensions.errorCode).toBe('ERR_GATEWAY_90481');
      else if (isPage(trial))
        expect(body.data?.[field.name].pageInfo, JSON.stringify(body.errors)).toMatchObject({
          startCursor: expect.any(String),
        });
      // Beside a filter no ids are taken at all; alone, each is refused as one that there is not: see jobs.test.ts.
      else if (field.name === 'startBulkJob' && trial.places[0]?.path.includes('ids'))
        expect(body.errors[0].extensions).toMatchObject({ field: 'ids', status: 400 });
      else expectToBlame(trial, body.errors[0].extensions.field, body.errors[0].extensions.status);
    }
  });
});

describe('REST', () => {
  /** In `npm test`, one row for each method and kind of place: rows name root fields, and each of those is tried above. */
  const tried = new Set<string>();
  const rows = routes
    .map((row) => ({ row, name: `${row.method} ${row.path}`, field: fieldNamed(row.field) }))
    .filter(({ field }) => placesOf(field).length > 0)
    .filter(({ row, field }) => isLong || isFirstPlace(row, field));

  function isFirstPlace({ method, path, extended }: (typeof routes)[number], field: Field): boolean {
    const place = placesOf(field).find(({ path: [first] }) => first !== 'before');
    const kind = [method, path.split(':').length, place?.role, place?.path.length, extended?.isOnly].join();
    if (tried.has(kind)) return false;
    tried.add(kind);
    return true;
  }

  test.each(rows)('$name answers to another account’s id as to one that never existed', async ({ row, field }) => {
    // REST pages forwards only.
    const there = [...trials(field, { asking, other })].filter(
      (trial) => trial.places[0]?.path[0] !== 'before' && !isChoice(trial),
    );
    expect(there).not.toEqual([]);
    // All of them are tried through GraphQL, which has the same resolvers.
    for (const trial of shortened(there)) {
      const ask = ({ call }: Owner, values: object) => {
        const request = requestOf(row, values);
        return call(row.method, request.path, request.body, { dialect: row.extended?.isOnly ? 'extended' : undefined });
      };
      const answer = await expectSame(isLong ? askersOf(trial) : [asking.account], ask, trial);
      const { status, body } = answer ?? expect.unreachable();
      if (isPage(trial)) expect(status).toBe(200);
      else expectToBlame(trial, camelCase(body.msg), status);
    }
  });

  test('every parameter of a path is an id that is tried, or the type of an event', () => {
    const untried = routes.flatMap((row) => {
      const tried = placesOf(fieldNamed(row.field)).map(({ path }) => path[0]);
      const parameters = [...row.path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => camelCase(parameter));
      return parameters.filter((parameter) => !tried.includes(parameter));
    });
    expect(new Set(untried)).toEqual(new Set(['type']));
  });
});

test('a refusal is the same byte for byte however often it was given before', async () => {
  const field = fieldNamed('credential');
  const ids = [other.ids.credential, newId('cr'), newId('cr'), other.ids.credential, newId('cr')];
  const answers: object[] = [];
  for (const id of ids) answers.push(seen(await asking.account.graphql(documentOf(field, { id }), { id }), []));
  expect(answers).toEqual(ids.map(() => answers[0]));
});

/** What was done to or by somebody's things is asked for by filters. */
const isOfTrail = ({ field, places }: Trial) =>
  /^(auditEntries|objectHistory)$/.test(field.name) && places[0]?.role === 'id';

/** An agent that is not there is one of many that are told something, and no mistake. */
function expectNobodyTold(results: { outcome: string }[]): void {
  for (const { outcome } of results) expect(outcome).toBe('UNKNOWN');
}

const isPage = ({ places }: Trial) => places[0]?.role === 'cursor';

/** The refusal is about what was named, and not about something else that is wrong with the request. */
function expectToBlame({ places }: Trial, blamed: string | undefined, status: number): void {
  const [{ path, isList }, second] = places as [Place, Place?];
  const inInput = path.length > 1;
  expect(second ? [400, 404] : inInput ? [400] : [404]).toContain(status);
  if (inInput && !second) expect(blamed).toContain(path.slice(1).join('.') + (isList ? '[0]' : ''));
}

// Cursors of lists in objects only say where to go on: test/graphql/related.test.ts has another account's.
test('only root fields take arguments that name something, so that there is nothing else to try', () => {
  const others = Object.values(schema.getTypeMap()).filter(
    (type) => isObjectType(type) && !/^(__.*|Query|Mutation|Subscription)$/.test(type.name),
  ) as GraphQLObjectType[];
  const takers = others.flatMap((type) =>
    Object.values(type.getFields()).filter(
      (field) => !getNamedType(field.type).name.endsWith('Connection') && placesOf(field).length > 0,
    ),
  );
  expect(takers.map(({ name }) => name)).toEqual([]);
});

test('what was refused left every row of both accounts as it was', async () => {
  expect(await everyRow(gateway)).toEqual(before);
});

test('a subscription tells an account of its own changes only', async () => {
  for (const { field, events } of opened) {
    const kind = field.name.replace(/(Changed|Added)$/, '');
    const next = async () => (await events.next()).data[field.name];
    let change = await next();
    const idOf = () => (kind === 'auditEntry' ? change.id : change.objectId);
    const made = newer.ids[kind === 'anyEndpoint' ? 'endpoint' : kind];
    // An edge that has what it needs is an endpoint, too. What is not the account's own would be null.
    for (; idOf() !== made; change = await next()) {
      expect(kind === 'auditEntry' || change[kind], field.name).toBeTruthy();
      expect(change.actorId ?? asking.account.ownerId, field.name).toBe(asking.account.ownerId);
    }
    events.close();
    expect(change.action, field.name).toBe('CREATED');
  }
});

test.each(subscriptions.filter((field) => !isOfAll(field)))(
  'the subscription $name answers to another account’s id as to one that never existed',
  async (field) => {
    for (const { theirs, never, pairs } of trials(field, { asking, other })) {
      const refusals: string[] = [];
      for (const values of [theirs, never]) {
        const events = await subscribe(gateway.api, asking.account.key, documentOf(field, values), values);
        const { errors } = await events.next();
        events.close();
        expect(errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
        delete errors[0].extensions.operationId;
        refusals.push(JSON.stringify(errors));
      }
      expect(refusals[0], JSON.stringify(pairs)).toBe(refusals[1]);
    }
  },
);

// Section 4, operation by operation: its status, what it takes, its lists, and that there is no other.

import { beforeAll, describe, expect, test } from 'vitest';
import { camelCase, camelCased } from '../../contract/doors.ts';
import { inputTypeOf, withGraphqlWords } from '../../support/enum-words.ts';
import { type Account, sharedGateway } from '../../support/gateway/gateway.ts';
import { differences } from '../shape.ts';
import { type ObjectName, objects, operations, says, sentences } from '../tables.ts';
import {
  account,
  ask,
  bodyOf,
  done,
  doorNames,
  filled,
  fullAnswer,
  gateway,
  placeOf,
  rootFields,
  titleOf,
  uri,
} from '../walk.ts';

const writing = operations.filter(({ body }) => body.length > 0);
const bodiless = operations.filter(({ body }) => body.length === 0);
const deletions = operations.filter(({ method }) => method === 'DELETE');

/** What a request must have beside a member. */
const needs: Record<string, string[]> = {
  'POST /event_destinations': ['target'],
  'POST /bot_users': ['name'],
  'POST /reserved_domains': ['domain'],
  'PUT /edges/tls/{id}/mutual_tls': ['certificate_authority_ids'],
};

/** Registers the checks. */
export function checkOperations(): void {
  describe('each operation answers with its status:', () => {
    const cases = operations
      .filter(({ method }) => method !== 'DELETE')
      .flatMap(({ section, call, status }) =>
        doorNames.map((door) => [section, call, status, titleOf(door), door] as const),
      );
    test.each(cases)('%s %s answers %i through %s', async (_, call, __, ___, door) => {
      const { answer } = await fullAnswer(door, call); // It asserts the status.
      expect(answer).toBeInstanceOf(Object);
    });

    const deleting = deletions.flatMap(({ section, call, path }) =>
      doorNames.map((door) => [section, call, titleOf(door), path, door] as const),
    );
    test.each(deleting)(
      '%s %s answers 204 without a body through %s, and what was deleted is not there any more',
      async (_, call, __, path, door) => {
        const isModule = !path.endsWith('s/{id}');
        const make = isModule ? `PUT ${path}` : `POST ${path.replace('/{id}', '')}`;
        const at = await placeOf(call);
        const made = await done('rest', make, { ids: isModule ? at : {}, body: bodyOf(make) });
        const ids = isModule ? at : { id: made.id };
        if (door === 'rest') {
          const { status, text, headers } = await account.call('DELETE', filled(path, ids));
          expect({ status, text, type: headers['content-type'] }).toEqual({ status: 204, text: '', type: undefined });
        } else expect(await ask(door, call, { ids })).toMatchObject({ status: 204, body: undefined });
        for (const other of doorNames) expect(await ask(other, `GET ${path}`, { ids })).toMatchObject({ status: 404 });
        if (isModule) await done('rest', make, { ids, body: bodyOf(make) });
      },
    );

    test(says('7 statuses'), () => {
      const told = /(\d+) \(get, list, update, replace\), (\d+) \(create\), (\d+) with no body \(delete\)/;
      const [read, created, deleted] =
        told
          .exec(sentences.get('7 statuses')?.sentence ?? '')
          ?.slice(1)
          .map(Number) ?? [];
      const statusOf: Record<string, unknown> = { GET: read, PATCH: read, PUT: read, POST: created, DELETE: deleted };
      for (const { call, method, status } of operations) expect(status, call).toBe(statusOf[method]);
    });

    const reading = operations.filter(({ method }) => method === 'GET');
    test.each(reading.map(({ section, call, path }) => [section, call, path] as const))(
      '%s %s is JSON',
      async (_, call, path) => {
        const { headers } = await account.call('GET', filled(path, await placeOf(call)));
        expect(headers['content-type']).toMatch(/^application\/json\b/);
      },
    );
  });

  describe('requests:', () => {
    const cases = writing.flatMap(({ section, call, body }) =>
      body.flatMap((member) => doorNames.map((door) => [section, call, member, titleOf(door), door] as const)),
    );
    test.each(cases)('%s %s takes %s through %s', async (_, call, member, __, door) => {
      const { body, answer } = await fullAnswer(door, call);
      const given = body?.[member];
      expect(given).toBeDefined();
      const shown = call.startsWith('POST')
        ? given
        : JSON.parse(JSON.stringify(given), (name, value) => (name === 'aws_secret_access_key' ? null : value));
      if (member === 'certificate_authority_ids')
        expect(answer.certificate_authorities.map(({ id }: { id: string }) => id)).toEqual(given);
      else if (member === 'target') expect(answer.target).toMatchObject(shown);
      else expect(answer[member]).toEqual(given);
    });

    const optional = writing.flatMap(({ section, call }) =>
      doorNames.map((door) => [section, call, titleOf(door), door] as const),
    );
    test.each(optional)('%s %s needs nothing but what is not optional (%s)', async (_, call, __, door) => {
      const ids = await placeOf(call);
      const all = bodyOf(call) ?? {};
      const body = Object.fromEntries((needs[call] ?? []).map((name) => [name, all[name]]));
      const answer = await ask(door, call, { ids, body });
      expect(answer, answer.message).toMatchObject({ errorCode: null });
      for (const name of Object.keys(body)) {
        const { [name]: _, ...others } = body;
        expect(await ask(door, call, { ids, body: others }), `without ${name}`).toMatchObject({ status: 400 });
      }
    });

    const fields = new Map<string, { args: string[]; input: string }>();
    beforeAll(async () => {
      const roots = '{ fields { name args { name type { name ofType { name } } } } }';
      const { body } = await account.graphql(`{ __schema { queryType ${roots} mutationType ${roots} } }`);
      for (const { name, args } of [
        ...body.data.__schema.queryType.fields,
        ...body.data.__schema.mutationType.fields,
      ]) {
        const type = args.find((one: { name: string }) => one.name === 'input')?.type;
        fields.set(name, {
          args: args.map((one: { name: string }) => one.name),
          input: String(type?.name ?? type?.ofType?.name),
        });
      }
    });

    test.each(writing.map(({ section, call, method, path }) => [section, call, method, path] as const))(
      '%s %s refuses a member that it does not have, through both doors',
      async (_, call, method, path) => {
        const ids = await placeOf(call);
        const body = { ...bodyOf(call), not_in_the_table: 'x' };
        const byRest = await account.call(method, filled(path, ids), body);
        expect(byRest).toMatchObject({ status: 400, body: { msg: expect.stringContaining('not_in_the_table') } });
        const field = rootFields[call] ?? '';
        const args = Object.entries(ids).map(([name, id]) => `${camelCase(name)}: "${id}",`);
        const byGraphql = await account.graphql(
          `mutation ($input: ${fields.get(field)?.input}!) { ${field}(${args.join(' ')} input: $input) { __typename } }`,
          { input: withGraphqlWords(inputTypeOf(field), camelCased(body)) },
        );
        expect(byGraphql.body.errors?.[0]).toMatchObject({
          message: expect.stringContaining('notInTheTable'),
          extensions: { status: 400 },
        });
      },
    );

    test.each(bodiless.map(({ section, call, method, path }) => [section, call, method, path] as const))(
      '%s %s takes no body, and no input through GraphQL',
      async (_, call, method, path) => {
        const answer = await account.call(method, filled(path, await placeOf(call)), { description: 'x' });
        expect(answer).toMatchObject({ status: 400 });
        expect(fields.get(rootFields[call] ?? '')?.args).not.toContain('input');
      },
    );

    test(says('4.2 read-only'), () => {
      expect(fields.has('createCredential')).toBe(true);
      const names = [...fields.keys()].filter((name) => /^(create|update|delete|replace)Endpoint$/.test(name));
      expect(names).toEqual([]);
      expect(operations.filter(({ section, method }) => section === '4.2' && method !== 'GET')).toEqual([]);
    });
  });

  describe('lists', () => {
    const lists = operations.filter(({ list }) => list !== undefined);
    const held: Record<string, ObjectName> = {
      'GET /credentials': 'credential',
      'GET /endpoints': 'endpoint',
      'GET /event_destinations': 'eventDestination',
    };
    const cases = lists.flatMap(({ section, call, path, list = '' }) =>
      doorNames.map((door) => [section, call, list, titleOf(door), path, door] as const),
    );
    /** An account with two of each that can be made, the newest first. */
    let few: Account;
    const made: Record<string, string[]> = { '/credentials': [], '/event_destinations': [] };
    beforeAll(async () => {
      few = await (await sharedGateway()).newAccount();
      for (const [path, ids] of Object.entries(made))
        for (let n = 0; n < 2; n++) {
          const { owner_id: _, ...body } = bodyOf(`POST ${path}`) ?? {};
          ids.unshift((await done('rest', `POST ${path}`, { as: few, body })).id);
        }
    });

    test('are those of credentials, endpoints and event destinations', () => {
      expect(lists.map(({ call }) => call).sort()).toEqual(Object.keys(held).sort());
    });

    test.each(cases)(
      '%s %s has exactly %s, uri and next_page_uri through %s',
      async (_, call, list, __, path, door) => {
        const { answer } = await fullAnswer(door, call);
        expect(Object.keys(answer).sort()).toEqual([list, 'uri', 'next_page_uri'].sort());
        expect(answer[list]).toBeInstanceOf(Array);
        expect(answer).toMatchObject({ uri: uri(path), next_page_uri: null });
        expect(differences(answer[list], objects[held[call] as ObjectName].members)).toEqual([]);
      },
    );

    test.each(cases.filter(([, , , , path]) => path in made))(
      `%s %s, page by page (%s, through %s): ${says('4 lists')}`,
      async (_, call, list, __, path, door) => {
        const [newest = '', oldest = ''] = made[path] ?? [];
        const first = await done(door, call, { as: few, page: { limit: 1 } });
        expect(first[list].map(({ id }: { id: string }) => id)).toEqual([newest]);
        expect(first.uri).toBe(uri(path));
        expect(first.next_page_uri).toMatch(new RegExp(`^${uri(path)}\\?`));
        const { body: next } = await few.call('GET', first.next_page_uri);
        expect(next[list].map(({ id }: { id: string }) => id)).toEqual([oldest]);
        expect(next.next_page_uri).toBeNull();
        const last = await done(door, call, { as: few, page: { limit: 1, before_id: newest } });
        expect(last).toMatchObject({ [list]: [{ id: oldest }], next_page_uri: null });
      },
    );

    test.each(lists.map(({ section, call, path, list = '' }) => [section, call, list, path] as const))(
      '%s %s: an account without any has an empty list, and its uri leads to itself',
      async (_, __, list, path) => {
        const { call } = await gateway.newAccount();
        const { body } = await call('GET', path);
        expect(body).toEqual({ [list]: [], uri: uri(path), next_page_uri: null });
        expect((await call('GET', body.uri)).body).toEqual(body);
      },
    );
  });

  describe('documented paths have no other method:', () => {
    const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
    // Of bot users and reserved domains, other operations are not shown: there are some.
    const closed = operations.filter(({ section }) => !['4.6', '4.7'].includes(section)).map(({ path }) => path);
    const methodsOf = (path: string) => operations.filter((one) => one.path === path).map(({ method }) => method);
    const lacking = [...new Set(closed)].flatMap((path) =>
      METHODS.filter((method) => !methodsOf(path).includes(method)).map((method) => [method, path] as const),
    );

    test.each(lacking)('%s %s answers 405, with the methods that there are in Allow', async (method, path) => {
      const body = method === 'GET' || method === 'DELETE' ? undefined : {};
      const { status, headers } = await account.call(method, filled(path, await placeOf(`GET ${path}`)), body);
      expect(status).toBe(405);
      const allowed = String(headers.allow).split(', ');
      expect(allowed.filter((name) => !['HEAD', 'OPTIONS'].includes(name)).sort()).toEqual(methodsOf(path).sort());
    });
  });
}

// Documents that were read are kept: for each account apart, the dashboard's for good, and none that is wrong.

import { beforeAll, describe, expect, test } from 'vitest';
import { type DocumentOwner, Documents } from '../../../src/api/graphql/documents.ts';
import { schema } from '../../../src/api/schema.ts';
import { sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await sharedGateway();
});

test('no account can break the documents of another, by whatever it sends as operationName', async () => {
  const victim = await gateway.newAccount();
  const attacker = await gateway.newAccount();
  const source = 'query Count {\n  credentials { totalCount }\n}';
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) {
    const body = JSON.stringify({ operationName: source.slice(0, at), query: source.slice(at + 1) });
    const headers = { authorization: `Bearer ${attacker.key}`, 'content-type': 'application/json' };
    const { errors } = await (await fetch(`${gateway.api}/graphql`, { method: 'POST', headers, body })).json();
    expect(errors).toHaveLength(1);
  }
  expect((await victim.graphql(source)).body).toEqual({ data: { credentials: { totalCount: 0 } } });
});

test('each operation of a document is found by its name', async () => {
  const { key } = await gateway.newAccount();
  const query = 'query A { __typename } query B { a: __typename }';
  const ask = async (operationName?: string) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query, operationName });
    return (await fetch(`${gateway.api}/graphql`, { method: 'POST', headers, body })).json();
  };
  for (let round = 0; round < 5; round++) {
    expect(await ask('A')).toEqual({ data: { __typename: 'Query' } });
    expect(await ask('B')).toEqual({ data: { a: 'Query' } });
    expect((await ask()).errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400 });
    expect((await ask('C')).errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400 });
  }
});

describe('what is kept', () => {
  const flood = (documents: Documents, owner: DocumentOwner) => {
    for (let sent = 0; sent < 1500; sent++) documents.read(`{ __typename } # ${sent}`, owner);
  };
  const known = (documents: Documents, source: string, owner: DocumentOwner) => {
    const read = documents.read(source, owner);
    return 'valid' in read ? read.valid : undefined;
  };
  const source = '{ credentials { totalCount } }';

  test.each<[string, DocumentOwner, DocumentOwner]>([
    ['an account', { accountId: 'one' }, { accountId: 'other' }],
    ['the dashboard', 'gateway', { accountId: 'other' }],
    ['an account, by strangers', { accountId: 'one' }, 'stranger'],
  ])('of %s is not pushed out by others', (_, owner, other) => {
    const documents = new Documents(schema);
    const before = known(documents, source, owner);
    expect(before).toBeDefined();
    flood(documents, other);
    expect(known(documents, source, owner)).toBe(before);
  });

  test('of one account has a limit', () => {
    const documents = new Documents(schema);
    const before = known(documents, source, { accountId: 'one' });
    for (let sent = 0; sent < 500; sent++)
      documents.read(`{ __typename ${'viewer { isAdmin } '.repeat(15)} } # ${sent}`, { accountId: 'one' });
    flood(documents, { accountId: 'one' });
    expect(known(documents, source, { accountId: 'one' })).not.toBe(before);
  });

  test('is nothing that is wrong, and nothing of strangers', () => {
    const documents = new Documents(schema);
    const wrong = () => documents.read('{ nothing }', { accountId: 'one' });
    expect(wrong()).not.toBe(wrong());
    expect(known(documents, source, 'stranger')).not.toBe(known(documents, source, 'stranger'));
  });
});

// One operation id: in the header of every answer, in the error, in the log line.

import { beforeAll, describe, expect, test } from 'vitest';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

const FORM = /^op_[0-9A-Za-z]{27}$/;

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

describe.each<[string, string, string, number, unknown?, object?]>([
  ['a path that is not there', 'GET', '/nothing', 404],
  ['a method that is not taken', 'PUT', '/credentials', 405],
  ['a request without a key', 'GET', '/credentials', 401, undefined, { key: null }],
  ['a request without a version', 'GET', '/credentials', 400, undefined, { headers: { 'service-version': undefined } }],
  ['a wrong content type', 'POST', '/credentials', 415, 'x', { headers: { 'content-type': 'text/plain' } }],
  ['a body that is too large', 'POST', '/credentials', 413, 'x'.repeat(65_537)],
  ['a body that is not JSON', 'POST', '/credentials', 400, '{'],
  ['a value that is not right', 'POST', '/credentials', 400, { acl: ['x'] }],
  ['an object that is not there', 'GET', '/credentials/cr_1', 404],
])('the error about %s', (_, method, path, status, body, options) => {
  test('has four members and the same operation id everywhere', async () => {
    const problems = typeof body === 'object' ? { 'acl[0]': expect.any(String) } : {};
    const answer = await account.call(method, path, body, options);
    const id = answer.headers['service-operation-id'];
    expect(id).toMatch(FORM);
    expect(answer.body).toEqual({
      error_code: expect.stringMatching(/^ERR_GATEWAY_\d+$/),
      status_code: status,
      msg: expect.stringMatching(/\S/),
      details: { operation_id: id, ...problems },
    });
    expect(Object.keys(answer.body)).toEqual(['error_code', 'status_code', 'msg', 'details']);
    expect(answer).toMatchObject({ status, headers: { 'content-type': 'application/json; charset=utf-8' } });
    expect(await gateway.logged((line) => line.operation_id === id)).toMatchObject({
      method,
      path,
      status,
      error_code: answer.body.error_code,
    });
  });
});

test('every answer has an operation id of its own, also those without an error', async () => {
  const { call } = account;
  const created = await call('POST', '/credentials');
  const page = { key: null, headers: { accept: 'text/html' } };
  const answers = [
    created,
    await call('GET', '/'),
    await call('GET', '/openapi.json'),
    await call('GET', '/credentials'),
    await call('HEAD', '/credentials'),
    await call('OPTIONS', '/credentials'),
    await call('PATCH', `/credentials/${created.body.id}`, {}),
    await call('DELETE', `/credentials/${created.body.id}`),
    await account.graphql('{ __typename }'),
    await account.graphql('{'),
  ];
  const raw = await gateway.raw(
    `GET /graphql HTTP/1.1\r\nHost: ${new URL(gateway.api).host}\r\nAccept: ${page.headers.accept}\r\nConnection: close\r\n\r\n`,
  );
  expect(raw).toMatch(/^HTTP\/1\.1 200 .*GraphiQL/is);
  const ids = [
    ...answers.map(({ headers }) => headers['service-operation-id']),
    /^Service-Operation-Id: (\S+)/im.exec(raw)?.[1],
  ];
  for (const id of ids) expect(id).toMatch(FORM);
  expect(new Set(ids).size).toBe(ids.length);
});

test('an error of GraphQL has the same operation id as its header and its log line', async () => {
  const answer = await account.graphql('{ a: credential(id: "cr_1") { id } b: credential(id: "cr_2") { id } }');
  const id = answer.headers['service-operation-id'];
  expect(answer.body.errors).toHaveLength(2);
  for (const error of answer.body.errors) expect(error.extensions.operationId).toBe(id);
  expect(await gateway.logged((line) => line.operation_id === id)).toMatchObject({ path: '/graphql', status: 200 });
});

test('the log line of a request says who asked, by ids', async () => {
  const answer = await account.call('GET', '/credentials?limit=1');
  const line = await gateway.logged(({ operation_id }) => operation_id === answer.headers['service-operation-id']);
  expect(line).toMatchObject({
    method: 'GET',
    path: '/credentials',
    status: 200,
    account_id: account.accountId,
    key_id: expect.stringMatching(/^ak_/),
    ms: expect.any(Number),
  });
});

test('what goes wrong inside is masked for the client and logged in full', async () => {
  const { prisma } = gateway.app;
  await prisma.$executeRaw`ALTER TABLE credential RENAME TO elsewhere`;
  try {
    const answer = await account.call('GET', '/credentials');
    expect(answer).toMatchObject({ status: 500, body: { error_code: 'ERR_GATEWAY_90090', status_code: 500 } });
    expect(answer.body.msg).not.toMatch(/credential|prisma|table/i);
    const line = await gateway.logged(({ operation_id }) => operation_id === answer.body.details.operation_id);
    expect(JSON.stringify(line.err)).toMatch(/credential/);
    const graphql = await account.graphql('{ credentials { nodes { id } } }');
    expect(graphql.body.errors[0]).toMatchObject({
      message: answer.body.msg,
      extensions: { code: 'INTERNAL', status: 500 },
    });
  } finally {
    await prisma.$executeRaw`ALTER TABLE elsewhere RENAME TO credential`;
  }
});

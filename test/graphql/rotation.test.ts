// The replacement of a credential's authtoken, which is accepted for a while beside the new one.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { newCredential, openSession, type TestCredential } from '../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
beforeAll(async () => {
  gateway = await sharedGateway();
});
beforeEach(async () => {
  account = await gateway.newAccount();
  credential = await newCredential(account);
});

const FIELDS = 'id rotation { previousValidUntil previousLastUsedAt previousSessions previousAgents }';

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer, the test says.
async function run(call: string, once = ''): Promise<any> {
  const id = credential.credentialId;
  return (await account.graphql(`mutation ($id: ID!) { ${call} { credential { ${FIELDS} } ${once} } }`, { id })).body;
}

const rotate = (overlapSeconds: number) => run(`rotateCredential(id: $id, overlapSeconds: ${overlapSeconds})`, 'token');
const authenticate = (authtoken: string) => gateway.registrar.authenticate(authtoken);

test('both authtokens are accepted during the overlap, and it is told who uses the old one', async () => {
  const { authtoken: before, credentialId } = credential;
  await openSession(gateway, credential);
  const { credential: rotated, token } = (await rotate(3600)).data.rotateCredential;
  const until = Date.parse(rotated.rotation.previousValidUntil);
  expect(Math.abs(until - Date.now() - 3_600_000)).toBeLessThan(10_000);
  expect(rotated.rotation).toMatchObject({ previousLastUsedAt: null, previousSessions: 1, previousAgents: 1 });
  expect(await authenticate(token)).toMatchObject({ credentialId, tokenNumber: 1 });
  expect(await authenticate(before)).toMatchObject({ credentialId, tokenNumber: 0 });
  await openSession(gateway, credential, { tokenNumber: 1 });
  const query = `query ($id: ID!) { credential(id: $id) { ${FIELDS} } }`;
  const { body } = await account.graphql(query, { id: credentialId });
  expect(body.data.credential).toMatchObject({
    ...{ rotation: { previousLastUsedAt: expect.any(String), previousSessions: 1, previousAgents: 0 } },
  });
  expect((await rotate(60)).errors[0].extensions).toMatchObject({ code: 'CONFLICT' });

  const { credential: finished } = (await run('finishRotation(id: $id)')).data.finishRotation;
  expect(finished).toMatchObject({ rotation: null });
  expect(await authenticate(before)).toEqual({ refused: 'authtokenUnknown' });
  expect(await authenticate(token)).toMatchObject({ credentialId });
});

test('without an overlap the old authtoken is refused at once; a wrong overlap is an error', async () => {
  const { token } = (await rotate(0)).data.rotateCredential;
  expect(await authenticate(credential.authtoken)).toEqual({ refused: 'authtokenUnknown' });
  expect(await authenticate(token)).toMatchObject({ tokenNumber: 1, previousUntil: null });
  for (const overlap of [-1, 7_776_001])
    expect((await rotate(overlap)).errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'overlapSeconds',
    });
});

test('an overlap that is over ends by itself, and the next replacement may begin', async () => {
  const { authtoken: before, credentialId: id } = credential;
  await rotate(3600);
  const previousValidUntil = new Date(Date.now() - 1000);
  await gateway.app.prisma.credential.update({ where: { id }, data: { previousValidUntil } });
  expect(await authenticate(before)).toEqual({ refused: 'authtokenUnknown' });
  const { body } = await account.graphql('query ($id: ID!) { credential(id: $id) { rotation { previousSessions } } }', {
    id,
  });
  expect(body.data.credential.rotation).toBeNull();
  expect((await rotate(60)).errors).toBeUndefined();
});

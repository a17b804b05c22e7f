// What somebody else switched on is not for every member of the account: not to be looked at, changed or sent again.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newName } from '../../live/edges/support.ts';
import { newCredential } from '../../support/agents/live.ts';
import { openSdkSession } from '../../support/agents/sdk.ts';
import type { Owner } from '../../support/gateway/gateway.ts';
import { subscribe } from '../../support/gateway/sse.ts';
import { type CaptureLab, captureOperation, startCaptureLab } from './lab.ts';

let lab: CaptureLab;
let member: Owner;
beforeAll(async () => {
  lab = await startCaptureLab();
  member = await lab.account.addOwner();
  await lab.run('mutation ($id: ID!) { updateUser(id: $id, input: { mayReadBodies: true }) { user { id } } }', {
    id: member.ownerId,
  });
});
afterAll(() => lab?.close());

const FORBIDDEN = { code: 'FORBIDDEN', errorCode: 'ERR_GATEWAY_90373' };
const START = captureOperation('startTrafficCapture', ', input: $input');
const LIST = 'query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { id requestBody { text } } } }';
const ONE = 'query ($id: ID!) { capturedRequest(id: $id) { requestBody { text } } }';
const MAY = 'query ($id: ID!) { trafficCapture(endpointId: $id) { mayLook isOn kept } }';

/** The ids of what was captured, for whom the account's admin is. */
const ids = async (endpointId: string) => (await lab.requests(endpointId)).map(({ id }) => id);
/** What the member is refused. */
async function expectRefused(endpointId: string, id: string) {
  const run = (document: string, variables: object) => lab.run(document, variables, member);
  const ask = [
    () => run(LIST, { id: endpointId }),
    () => run(ONE, { id }),
    () => run(START, { id: endpointId, input: {} }),
    () => run(captureOperation('stopTrafficCapture'), { id: endpointId }),
    () => run(captureOperation('clearTrafficCapture'), { id: endpointId }),
    () => lab.replay(id, undefined, member),
  ];
  for (const refused of ask) await expect(refused()).rejects.toMatchObject(FORBIDDEN);
  expect(await run(MAY, { id: endpointId })).toMatchObject({ mayLook: false });
}

test('a member does not get at the bodies and hidden values of a capture that an admin switched on', async () => {
  const tunnel = await lab.tunnel();
  await lab.start(tunnel.id, { bodyBytes: 1000 });
  await lab.visit(tunnel, '/', { method: 'POST', body: 'of an admin', headers: { authorization: 'top-secret-1' } });
  const [id] = await ids(tunnel.id);
  const before = lab.asked.length;
  await expectRefused(tunnel.id, id);
  // Nor when it is off, as long as something is kept.
  await lab.run(captureOperation('stopTrafficCapture'), { id: tunnel.id });
  await expectRefused(tunnel.id, id);
  expect(await lab.run(MAY, { id: tunnel.id })).toEqual({ mayLook: true, isOn: false, kept: 1 });
  expect(lab.asked).toHaveLength(before);
  await lab.run(captureOperation('clearTrafficCapture'), { id: tunnel.id });
  expect(await lab.run(MAY, { id: tunnel.id }, member)).toEqual({ mayLook: true, isOn: false, kept: 0 });
});

test('a member looks at what it switched on itself, until an admin changes that', async () => {
  const tunnel = await lab.tunnel();
  await lab.run(START, { id: tunnel.id, input: { bodyBytes: 1000 } }, member);
  await lab.visit(tunnel, '/', { method: 'POST', body: 'of a member' });
  const [{ id, requestBody }] = (await lab.run(LIST, { id: tunnel.id }, member)).nodes;
  expect(requestBody.text).toBe('of a member');
  expect((await lab.replay(id, undefined, member)).status).toBe(200);
  const other = await lab.account.addOwner({ kind: 'BOT' });
  await expect(lab.run(ONE, { id }, other)).rejects.toMatchObject(FORBIDDEN);
  await lab.start(tunnel.id, { bodyBytes: 1000 });
  await expectRefused(tunnel.id, id);
});

test('a member looks at all that is captured of an agent with a credential of its own', async () => {
  const { session, close } = await openSdkSession(lab.gateway, (await newCredential(member)).authtoken);
  onTestFinished(close);
  const name = newName('capture');
  await session.httpEndpoint().scheme('http').domain(name).listenAndForward(lab.upstream);
  const tunnel = { name, scheme: 'http' as const, id: await lab.endpointId(name) };
  await lab.start(tunnel.id, { bodyBytes: 1000 });
  await lab.visit(tunnel, '/', { method: 'POST', body: 'of an admin' });
  const [{ id }] = (await lab.run(LIST, { id: tunnel.id }, member)).nodes;
  expect(await lab.run(ONE, { id }, member)).toEqual({ requestBody: { text: 'of an admin' } });
  expect((await lab.replay(id, undefined, member)).status).toBe(200);
});

test('who watches before anything is captured is not told of what an admin switches on then', async () => {
  const tunnel = await lab.tunnel();
  const document = 'subscription ($id: ID!) { requestCaptured(endpointId: $id) { path } }';
  const stream = await subscribe(lab.gateway.api, member.key, document, { id: tunnel.id });
  onTestFinished(() => stream.close());
  await lab.start(tunnel.id);
  await lab.visit(tunnel, '/of-an-admin');
  await lab.run(captureOperation('stopTrafficCapture'), { id: tunnel.id });
  await lab.run(captureOperation('clearTrafficCapture'), { id: tunnel.id });
  await lab.run(START, { id: tunnel.id, input: {} }, member);
  await lab.visit(tunnel, '/of-the-member');
  expect(await stream.next()).toEqual({ data: { requestCaptured: { path: '/of-the-member' } } });
  await lab.start(tunnel.id);
  const late = await subscribe(lab.gateway.api, member.key, document, { id: tunnel.id });
  onTestFinished(() => late.close());
  expect(await late.next()).toMatchObject({ errors: [{ extensions: FORBIDDEN }] });
});

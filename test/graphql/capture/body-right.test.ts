// The right to read captured bodies: without it a member sees that there was a request, and nothing of what was in its bodies.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Owner } from '../../support/gateway/gateway.ts';
import { subscribe } from '../../support/gateway/sse.ts';
import { type CaptureLab, captureOperation, startCaptureLab } from './lab.ts';

let lab: CaptureLab;
beforeAll(async () => {
  lab = await startCaptureLab();
});
afterAll(() => lab?.close());

const HIDDEN = { code: 'FORBIDDEN', errorCode: 'ERR_GATEWAY_90434' };
const BODY = 'the body itself';
const START = captureOperation('startTrafficCapture', ', input: $input');
const metadata = 'id path status requestBody { bytes keptBytes isWhole } responseBody { bytes }';
const list = (selection: string) => `query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { ${selection} } } }`;

/** Has this owner switch capture on at a tunnel, and a visitor come. */
async function capture(owner: Owner) {
  const tunnel = await lab.tunnel();
  await lab.run(START, { id: tunnel.id, input: { bodyBytes: 1000 } }, owner);
  await lab.visit(tunnel, '/', { method: 'POST', body: BODY });
  const [{ id }] = (await lab.run(list('id'), { id: tunnel.id }, owner)).nodes;
  return { tunnel, id };
}

test.each([{ kind: 'USER' }, { kind: 'BOT' }] as const)(
  'of a $kind is its admin’s to give and to take',
  async ({ kind }) => {
    const owner = await lab.account.addOwner({ kind });
    const [operation, member] = kind === 'BOT' ? ['updateBotUserRights', 'botUser'] : ['updateUser', 'user'];
    const give = (mayReadBodies: boolean, by: Owner = lab.account) =>
      lab.run(
        `mutation ($id: ID!, $may: Boolean!) { ${operation}(id: $id, input: { mayReadBodies: $may }) { ${member} { mayReadBodies } } }`,
        { id: owner.ownerId, may: mayReadBodies },
        by,
      );
    const { id } = await capture(owner);
    const read = () => lab.run('query ($id: ID!) { capturedRequest(id: $id) { requestBody { text } } }', { id }, owner);
    await expect(give(true, owner)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(read()).rejects.toMatchObject(HIDDEN);
    expect(await give(true)).toEqual({ mayReadBodies: true });
    expect(await read()).toEqual({ requestBody: { text: BODY } });
    expect((await lab.replay(id, undefined, owner)).body.text).toBe(`hello ${BODY.length}`);
    expect(await give(false)).toEqual({ mayReadBodies: false });
    await expect(read()).rejects.toMatchObject(HIDDEN);
  },
);

test('without it, no query, subscription or replay gives a body, while all else is shown', async () => {
  const member = await lab.account.addOwner();
  const { tunnel, id } = await capture(member);
  const forbidden = [
    list('requestBody { text }'),
    list('requestBody { base64 }'),
    list('responseBody { text }'),
    list('responseBody { base64 }'),
  ];
  for (const document of forbidden) {
    const { body, text } = await member.graphql(document, { id: tunnel.id });
    expect(body.errors[0].extensions).toMatchObject(HIDDEN);
    expect(text).not.toContain(BODY);
    expect(text).not.toContain(Buffer.from(BODY).toString('base64'));
  }
  const before = lab.asked.length;
  await expect(lab.replay(id, undefined, member)).rejects.toMatchObject(HIDDEN);
  expect(lab.asked).toHaveLength(before);
  expect((await lab.run(list(metadata), { id: tunnel.id }, member)).nodes[0]).toMatchObject({
    path: '/',
    status: 200,
    requestBody: { bytes: BODY.length, keptBytes: BODY.length, isWhole: true },
  });
  const watch = 'subscription ($id: ID!) { requestCaptured(endpointId: $id) { path requestBody { bytes text } } }';
  const stream = await subscribe(lab.gateway.api, member.key, watch, { id: tunnel.id });
  onTestFinished(() => stream.close());
  await lab.visit(tunnel, '/watched', { method: 'POST', body: BODY });
  expect(await stream.next()).toMatchObject({
    data: { requestCaptured: { path: '/watched', requestBody: { bytes: BODY.length, text: null } } },
    errors: [{ extensions: HIDDEN }],
  });
});

test('an admin has it always, and says so', async () => {
  const { viewer } = (await lab.account.graphql('{ viewer { user { mayReadBodies } } }')).body.data;
  expect(viewer).toEqual({ user: { mayReadBodies: true } });
});

// Whose captures are: what is shown to whom, and what never is.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../src/store/ids.ts';
import { newName } from '../../live/edges/support.ts';
import { bound, leaveTo, nameRequest, newCredential, openSession } from '../../support/agents/live.ts';
import { type CaptureLab, captureOperation, SECRETS, startCaptureLab } from './lab.ts';

let lab: CaptureLab;
beforeAll(async () => {
  lab = await startCaptureLab();
});
afterAll(() => lab?.close());

describe('secrets', () => {
  test('are in no answer, no subscription, no replay and no log; the service gets them again', async () => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id, { bodyBytes: 1000, redactHeaders: ['X-Own', 'x-token'] });
    const stream = await lab.watch(tunnel.id);
    await lab.visit(tunnel, '/secrets', { headers: SECRETS });
    const told = JSON.stringify(await stream.next());
    expect(told).toContain('/secrets');
    expect(told).not.toContain('top-secret');
    const [request] = await lab.requests(tunnel.id);
    for (const name of Object.keys(SECRETS))
      expect(request.requestHeaders).toContainEqual({ name, value: '', isRedacted: true });
    for (const name of ['Set-Cookie', 'X-Token'])
      expect(request.responseHeaders).toContainEqual({ name, value: '', isRedacted: true });
    lab.asked.length = 0;
    const replay = await lab.replay(request.id);
    expect(replay.headers).toContainEqual({ name: 'X-Token', value: '', isRedacted: true });
    expect(JSON.stringify(await stream.next())).not.toContain('top-secret');
    for (const value of Object.values(SECRETS)) expect(lab.asked[0]?.headers).toContain(value);
    await expect(lab.replay(request.id, { headers: [{ name: 'x-none' }] })).rejects.toThrow('x-none');
    expect(lab.gateway.logs.filter((line) => line.includes('top-secret'))).toEqual([]);
  });
});

describe('credentials in other places', () => {
  const FIELDS = {
    'X-Auth-Token': 'visitors-own-1',
    'X-Amz-Security-Token': 'visitors-own-2',
    'Ocp-Apim-Subscription-Key': 'visitors-own-3',
    'X-Csrf-Token': 'visitors-own-4',
    'X-Session-Id': 'visitors-own-5',
    'X-Client-Secret': 'visitors-own-6',
    'X-Hub-Signature-256': 'visitors-own-7',
    'X-Forwarded-Access-Token': 'visitors-own-8',
    Referer: 'https://user:visitors-own-9@other.example/cb?code=visitors-own-10&x#access_token=visitors-own-11',
    'X-Original-Url': '/a?token=visitors-own-12',
    Accept: 'text/plain',
  };

  test('are shown to who may read bodies, and to other members nowhere', async () => {
    const tunnel = await lab.tunnel();
    const member = await lab.account.addOwner();
    const { id } = tunnel;
    await lab.run(captureOperation('startTrafficCapture', ', input: $input'), { id, input: {} }, member);
    await lab.visit(tunnel, '/plain?access_token=visitors-own-13&flag', { headers: FIELDS });
    const of = `query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { url path
      requestHeaders { name value isRedacted } responseHeaders { name value isRedacted } } } }`;
    const toMember = await lab.run(of, { id }, member);
    expect(JSON.stringify(toMember)).not.toContain('visitors-own');
    const [shown] = toMember.nodes;
    expect(shown.path).toBe('/plain?access_token=…&…');
    expect(shown.url).toContain('/plain?access_token=…&…');
    const referer = { name: 'Referer', value: 'https://other.example/cb?code=…&…', isRedacted: true };
    for (const header of [
      referer,
      { name: 'X-Auth-Token', value: '', isRedacted: true },
      { name: 'Accept', value: 'text/plain', isRedacted: false },
    ])
      expect(shown.requestHeaders).toContainEqual(header);
    const { nodes } = await lab.run(of, { id });
    expect(nodes[0].path).toBe('/plain?access_token=visitors-own-13&flag');
    for (const [name, value] of Object.entries(FIELDS))
      expect(nodes[0].requestHeaders).toContainEqual({ name, value, isRedacted: false });
  });
});

describe('whose it is', () => {
  test('members may do all of it, replay with the right to read bodies, and the audit trail tells of it', async () => {
    const tunnel = await lab.tunnel();
    const member = await lab.account.addOwner();
    await lab.run('mutation ($id: ID!) { updateUser(id: $id, input: { mayReadBodies: true }) { user { id } } }', {
      id: member.ownerId,
    });
    const id = tunnel.id;
    const input = { bodyBytes: 10 };
    await lab.run(captureOperation('startTrafficCapture', ', input: $input'), { id, input }, member);
    await lab.visit(tunnel, '/member?of=somebody');
    const [request] = await lab.requests(id);
    expect(await lab.replay(request.id, {}, member)).toMatchObject({ status: 200 });
    for (const name of ['stopTrafficCapture', 'clearTrafficCapture'])
      expect(await lab.run(captureOperation(name), { id }, member)).toMatchObject({ isOn: false });
    const query = 'query ($id: ID!) { objectHistory(id: $id) { nodes { action actorId objectName after } } }';
    const by = { actorId: member.ownerId, objectName: expect.stringContaining(`http://${tunnel.name}`), after: null };
    const sent = { captured_request_id: request.id, method: 'GET', host: tunnel.name, path: '/member' };
    expect((await lab.run(query, { id })).nodes).toEqual([
      { ...by, action: 'CAPTURE_CLEARED' },
      { ...by, action: 'CAPTURE_STOPPED' },
      { ...by, action: 'REQUEST_REPLAYED', objectName: tunnel.name, after: { ...sent, edited: [], outcome: 200 } },
      { ...by, action: 'CAPTURE_STARTED', after: { body_bytes: 10, redact_headers: [], minutes: 60 } },
    ]);
  });

  test('another account finds nothing', async () => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id);
    await lab.visit(tunnel, '/mine');
    const [request] = await lab.requests(tunnel.id);
    const stranger = await lab.gateway.newAccount();
    const notFound = { code: 'NOT_FOUND' };
    for (const id of [tunnel.id, newId('ep'), 'nonsense']) {
      for (const name of ['stopTrafficCapture', 'clearTrafficCapture'])
        await expect(lab.run(captureOperation(name), { id }, stranger)).rejects.toMatchObject(notFound);
      const start = captureOperation('startTrafficCapture', ', input: $input');
      await expect(lab.run(start, { id, input: {} }, stranger)).rejects.toMatchObject(notFound);
      const list = 'query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { id } } }';
      await expect(lab.run(list, { id }, stranger)).rejects.toMatchObject(notFound);
    }
    const one = 'query ($id: ID!) { capturedRequest(id: $id) { id } }';
    await expect(lab.run(one, { id: request.id }, stranger)).rejects.toMatchObject(notFound);
    await expect(lab.replay(request.id, {}, stranger)).rejects.toMatchObject(notFound);
    expect(await lab.state(tunnel.id)).toMatchObject({ isOn: true, kept: 1 });
  });

  test('what another node serves is to be asked of that one', async () => {
    const credential = await newCredential(lab.account);
    const sessionId = await openSession(lab.gateway, credential);
    const { endpointId } = bound(await lab.gateway.registrar.bind(nameRequest(sessionId, newName('elsewhere'))));
    await leaveTo(lab.gateway, sessionId, Date.now() + 60_000);
    await expect(lab.start(endpointId)).rejects.toMatchObject({ code: 'UNAVAILABLE', errorCode: 'ERR_GATEWAY_90230' });
  });
});

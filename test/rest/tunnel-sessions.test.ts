// Agents are told from afar what to do: through either door, and where there is a server through another gateway too.

import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Changes } from '../../src/store/changes/changes.ts';
import { PeerRelay } from '../../src/store/changes/peer-relay.ts';
import { postgresBus } from '../../src/store/changes/postgres-bus.ts';
import { sessionCommands } from '../../src/store/changes/session-commands.ts';
import { newId } from '../../src/store/ids.ts';
import { newClient, PATIENT, type TestClient } from '../agent/client/support.ts';
import { newCredential, openSession } from '../support/agents/live.ts';
import { eventually } from '../support/eventually.ts';
import { type Account, type Owner, onServer, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace, type Place } from '../support/gateway/place.ts';

let place: Place;
let gateway: TestGateway;
let account: Account;
let agent: TestClient;
let session: string;
/** What the agent was told, and what it says to it. */
let heard: unknown[];
let reason: string | null;

beforeAll(async () => {
  place = await newPlace();
  gateway = await startTestGateway({}, { place });
  account = await gateway.newAccount();
});
beforeEach(async () => {
  heard = [];
  reason = null;
  const { authtoken } = await newCredential(account);
  agent = newAgent(authtoken);
  await agent.until(() => agent.client.status.state === 'online');
  const { body } = await account.call('GET', '/tunnel_sessions?limit=1');
  session = body.tunnel_sessions[0].id;
});
afterEach(() => agent?.client.close());
afterAll(async () => {
  await gateway?.close();
  await place?.remove();
});

/** @param updateRefusal what the agent announces when it connects. */
function newAgent(authtoken: string, updateRefusal?: string): TestClient {
  const [host = '', port] = gateway.agent.split(':');
  const told = (command: unknown) => {
    heard.push(command);
    return reason;
  };
  return newClient(
    { host, port: Number(port), ca: gateway.ca },
    {
      authtoken,
      commands: {
        stop: () => told('stop'),
        restart: () => told('restart'),
        update: (version, permitMajor) => told({ version, permitMajor }),
        ...(updateRefusal && { unsupported: { update: updateRefusal } }),
      },
    },
    PATIENT,
  );
}

const commands = ['restart', 'stop', 'update'] as const;
const heardOf = { restart: 'restart', stop: 'stop', update: { version: '', permitMajor: false } };
const path = (command: string, id = session) => `/tunnel_sessions/${id}/${command}`;
const mutation = (command: string) =>
  `mutation ($id: ID!) { done: ${command}TunnelSession(id: $id${command === 'update' ? ', input: {}' : ''}) { tunnelSessionId } }`;

describe.each(commands)('%s', (command) => {
  test('is done by the agent for admins, with a body or none', async () => {
    const asked = [
      await account.call('POST', path(command)),
      await (await account.addOwner({ role: 'ADMIN' })).call('POST', path(command), {}),
    ];
    expect(asked.map(({ status, text }) => [status, text])).toEqual(asked.map(() => [204, '']));
    const { body } = await account.graphql(mutation(command), { id: session });
    expect(body).toEqual({ data: { done: { tunnelSessionId: session } } });
    expect(heard).toEqual(Array(3).fill(heardOf[command]));
  });

  test('is for the owner of the agent’s credential alone, of all who are no admins', async () => {
    const [owner, other] = [await account.addOwner(), await account.addOwner()];
    const bot = await account.addOwner({ kind: 'BOT' });
    const mayCommand = async ({ graphql }: Owner, id: string) =>
      (await graphql('query ($id: ID!) { tunnelSession(id: $id) { mayCommand } }', { id })).body.data.tunnelSession;
    for (const member of [other, bot]) {
      const { status, body } = await member.call('POST', path(command), {});
      expect([status, body.error_code]).toEqual([403, 'ERR_GATEWAY_90372']);
      expect(body.msg).toContain('owner of the credential');
      expect(await mayCommand(member, session)).toEqual({ mayCommand: false });
    }
    expect(heard).toEqual([]);
    const own = newAgent((await newCredential(owner)).authtoken);
    onTestFinished(() => own.client.close());
    await own.until(() => own.client.status.state === 'online');
    const [{ id }] = (await account.call('GET', '/tunnel_sessions?limit=1')).body.tunnel_sessions;
    expect(await mayCommand(owner, id)).toEqual({ mayCommand: true });
    expect((await owner.call('POST', path(command, id), {})).status).toBe(204);
    expect((await other.call('POST', path(command, id), {})).status).toBe(403);
    expect(heard).toEqual([heardOf[command]]);
  });

  test('that the agent refuses is a conflict, with its reason', async () => {
    reason = `It does not ${command} "today".`;
    const code = { restart: 'ERR_GATEWAY_804', stop: 'ERR_GATEWAY_805', update: 'ERR_GATEWAY_806' }[command];
    const { status, body } = await account.call('POST', path(command));
    expect({ status, code: body.error_code, msg: body.msg }).toEqual({
      status: 409,
      code,
      msg: expect.stringContaining(reason),
    });
    const { errors } = (await account.graphql(mutation(command), { id: session })).body;
    expect(errors[0]).toMatchObject({ message: body.msg, extensions: { code: 'CONFLICT', errorCode: code } });
  });

  test('is not for a session that is not there, nor for another account', async () => {
    const stranger = await gateway.newAccount();
    const missing = async (owner: Owner, id: string) => {
      const { status, body } = await owner.call('POST', path(command, id));
      expect({ status, code: body.error_code }).toEqual({ status: 404, code: 'ERR_GATEWAY_90020' });
    };
    await missing(stranger, session);
    for (const id of [newId('ts'), newId('tn'), 'x', '%00']) await missing(account, id);
    await agent.client.close();
    await eventually(() => missing(account, session));
    expect(heard).toEqual([]);
  });

  test('with an idempotency key is told once', async () => {
    const headers = { 'idempotency-key': `${command}-once` };
    for (let round = 0; round < 2; round++)
      expect((await account.call('POST', path(command), {}, { headers })).status).toBe(204);
    expect(heard).toHaveLength(1);
  });

  test('of a session that nobody answers for is unavailable', async () => {
    const silent = await openSession(gateway, await newCredential(account));
    const { status, body, headers } = await account.call('POST', path(command, silent));
    expect({ status, code: body.error_code }).toEqual({ status: 503, code: 'ERR_GATEWAY_90081' });
    expect(headers['retry-after']).toBe('2');
  });
});

test('a command that an agent refuses in advance is told before anybody sends it', async () => {
  const refused = async (id: string) => {
    const asked = 'query ($id: ID!) { tunnelSession(id: $id) { refusedCommands { command reason } } }';
    return (await account.graphql(asked, { id })).body.data.tunnelSession.refusedCommands;
  };
  expect(await refused(session)).toEqual([]);
  const fixed = newAgent((await newCredential(account)).authtoken, 'It is part of a picture.');
  onTestFinished(() => fixed.client.close());
  await fixed.until(() => fixed.client.status.state === 'online');
  const [{ id }] = (await account.call('GET', '/tunnel_sessions?limit=1')).body.tunnel_sessions;
  expect(await refused(id)).toEqual([{ command: 'update', reason: 'It is part of a picture.' }]);
  expect((await account.call('POST', path('update', id))).body.msg).toContain('It is part of a picture.');
  expect(heard).toEqual([]);
});

test('an update says which version', async () => {
  const body = { version: '4.0.0-rc.1', permit_major_version: true };
  expect((await account.call('POST', path('update'), body)).status).toBe(204);
  const input = { version: '5', permitMajorVersion: null };
  await account.graphql(
    'mutation ($id: ID!, $input: UpdateTunnelSessionInput!) { updateTunnelSession(id: $id, input: $input) { tunnelSessionId } }',
    { id: session, input },
  );
  expect(heard).toEqual([
    { version: '4.0.0-rc.1', permitMajor: true },
    { version: '5', permitMajor: false },
  ]);
});

test.each([
  ['restart', { version: '4' }, 'ERR_GATEWAY_214'],
  ['stop', { id: 'x' }, 'ERR_GATEWAY_214'],
  ['update', { channel: 'beta' }, 'ERR_GATEWAY_214'],
  ['update', { version: 4 }, 'ERR_GATEWAY_215'],
  ['update', { permit_major_version: 'yes' }, 'ERR_GATEWAY_215'],
  ['update', { version: 'é'.repeat(33) }, 'ERR_GATEWAY_90033'],
])('%s does not take %o', async (command, body, code) => {
  const answer = await account.call('POST', path(command), body);
  expect({ status: answer.status, code: answer.body.error_code }).toEqual({ status: 400, code });
  expect(heard).toEqual([]);
});

describe.runIf(onServer)('another gateway on the same server', () => {
  let second: TestGateway;
  const callThere = (id: string, command: string) => second.app.sessions.command(id, { kind: command as 'stop' });
  beforeAll(async () => {
    second = await startTestGateway({}, { place });
  });
  afterAll(() => second?.close());

  test('passes a command on, and the answer back', async () => {
    const there = (command: string) =>
      fetch(`${second.api}${path(command)}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${account.key}`, 'service-version': '2' },
      });
    expect((await there('stop')).status).toBe(204);
    reason = 'Not today.';
    const refused = await there('restart');
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ error_code: 'ERR_GATEWAY_804', msg: expect.stringMatching(reason) });
    expect(heard).toEqual(['stop', 'restart']);
  });

  test('passes on a reason that is as long as an agent likes, cut', async () => {
    reason = '\u0001é"\\'.repeat(500);
    const outcome = await callThere(session, 'stop');
    expect(outcome).toEqual({ refused: reason.slice(0, 500) });
  });

  test('gives up on a session that no node has, in time', async () => {
    const url = place.env.DATABASE_URL ?? '';
    const silence = { changes: new Changes(), log: pino({ level: 'silent' }) };
    const peers = new PeerRelay({ bus: postgresBus(url), node: newId('node'), ...silence });
    const local = { command: async () => 'done' as const };
    const asking = sessionCommands({ isOwn: () => false, local, peers, timeoutMs: 50 });
    const patient = sessionCommands({ isOwn: () => false, local, peers, timeoutMs: 30_000 });
    expect(await asking.command(newId('ts'), { kind: 'stop' })).toBe('unreachable'); // It does not listen yet.
    await peers.start();
    expect(await asking.command(newId('ts'), { kind: 'stop' })).toBe('unreachable');
    expect(await patient.command(session, { kind: 'stop' })).toBe('done');
    await peers.close();
  });
});

test('an agent that does not answer is given up in time', async () => {
  const silent = { command: () => new Promise<never>(() => undefined) };
  const failing = { command: () => Promise.reject(new Error('lost')) };
  for (const local of [silent, failing]) {
    const asking = sessionCommands({ isOwn: () => true, local, timeoutMs: 20 });
    expect(await asking.command(session, { kind: 'stop' })).toBe('unreachable');
  }
  const nobody = sessionCommands({ isOwn: () => false, local: silent, timeoutMs: 20 });
  expect(await nobody.command(session, { kind: 'stop' })).toBe('unreachable');
});

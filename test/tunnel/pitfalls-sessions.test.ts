// What breaks agents in the field, by the numbers that the description of their protocol gives it: sessions, commands and messages.

import { expect, test } from 'vitest';
import { MuxFrameReader, StreamType } from '../../src/protocol/index.ts';
import { newCredential } from '../support/agents/live.ts';
import { codeOf, type RawAgent, rawAgent } from '../support/agents/raw-agent.ts';
import { httpName, sdkProcess, sdkSession } from '../support/agents/sdk.ts';
import { eventually } from '../support/eventually.ts';
import { hello, INTERVAL, pitfallLab, RETRIES, TOLERANCE } from './pitfall-lab.ts';

const lab = pitfallLab('pitfall-session');
const { newName, get, proxied, through, sessions } = lab;

/** Every stream that the gateway opens on an agent's connection: its type, and whether the gateway ended it. */
function openings(agent: RawAgent): Map<number, { type: number; bytes: number; isEnded: boolean }> {
  const seen = new Map<number, { type: number; bytes: number; isEnded: boolean }>();
  const reader = new MuxFrameReader({
    onData(id, piece, opens, ends) {
      if (opens) seen.set(id, { type: piece.readUInt32BE(0), bytes: 0, isEnded: false });
      const stream = seen.get(id);
      if (!stream) return;
      stream.bytes += piece.length;
      stream.isEnded ||= ends;
    },
    onReset() {},
    onWindow() {},
    onGoAway() {},
  });
  agent.socket.on('data', (chunk: Buffer) => reader.push(chunk));
  return seen;
}

test('P8: a stream of heartbeats is never ended by the gateway, not even with the session', async () => {
  const own = await newCredential(lab.account);
  const agent = await rawAgent(lab.gateway);
  const seen = openings(agent);
  await agent.auth(own.authtoken);
  const heartbeats = () => [...seen.values()].filter(({ type }) => type === StreamType.HEARTBEAT);
  await eventually(() => expect(heartbeats()[0]?.bytes).toBeGreaterThanOrEqual(4 + 3 * 4));
  await lab.account.call('DELETE', `/credentials/${own.credentialId}`);
  await agent.closed;
  expect(heartbeats()).toEqual([expect.objectContaining({ isEnded: false })]);
});

test('P9: after a reconnect, when the SDK no longer hears that a tunnel was stopped, it is stopped all the same', async () => {
  const [proxy, name] = [await proxied(), newName()];
  const own = await newCredential(lab.account);
  let failures = 0;
  const session = await sdkSession(through(proxy), own.authtoken, (builder) =>
    builder.handleDisconnection(() => {
      failures++;
      return failures < 3;
    }),
  );
  await httpName(session, name).listenAndForward((await hello()).url);
  await proxy.cut();
  await eventually(async () => expect((await get(name)).body).toBe('hello'), RETRIES);
  await lab.account.call('PATCH', `/credentials/${own.credentialId}`, { acl: ['bind:other.tunnel.localhost'] });
  await eventually(async () => expect((await get(name)).status).toBe(404));
  // Nor does it get the name back.
  const before = failures;
  await proxy.cut();
  await eventually(() => expect(failures).toBeGreaterThan(before), RETRIES);
  expect((await get(name)).status).toBe(404);
});

test('P10: an SDK that is told to stop goes on, as long as its program does not stop it', async () => {
  const own = await lab.gateway.newAccount();
  const name = newName();
  let stops = 0;
  const session = await sdkSession(lab.gateway, (await newCredential(own)).authtoken, (builder) =>
    builder.handleStopCommand(() => {
      stops++;
    }),
  );
  await httpName(session, name).listenAndForward((await hello()).url);
  const [id] = await sessions(own);
  expect((await own.call('POST', `/tunnel_sessions/${id}/stop`)).status).toBe(204);
  await eventually(() => expect(stops).toBe(1));
  expect((await own.call('POST', `/tunnel_sessions/${id}/restart`)).status).toBe(409);
  expect((await get(name)).body).toBe('hello');
  expect(await sessions(own)).toEqual([id]);
});

test('P11: the gateway opens no stream of a type that an SDK could take for another', async () => {
  const own = await lab.gateway.newAccount();
  const held = await newCredential(own);
  const agent = await rawAgent(lab.gateway);
  const seen = openings(agent);
  await agent.auth(held.authtoken, {
    Extra: { StopUnsupportedError: '', RestartUnsupportedError: '', UpdateUnsupportedError: '' },
  });
  const name = newName();
  await agent.bind(name);
  expect((await get(name)).status).toBe(200);
  const [id] = await sessions(own);
  for (const command of ['stop', 'restart', 'update'])
    expect((await own.call('POST', `/tunnel_sessions/${id}/${command}`)).status).toBe(204);
  await own.call('PATCH', `/credentials/${held.credentialId}`, { acl: ['bind:other.tunnel.localhost'] });
  await eventually(() => expect(agent.asked).toHaveLength(4));
  const { PROXY, RESTART, STOP, UPDATE, STOP_TUNNEL, HEARTBEAT } = StreamType;
  const types = [...seen.values()].map(({ type }) => type);
  expect(types.sort((a, b) => a - b)).toEqual([PROXY, RESTART, STOP, UPDATE, STOP_TUNNEL, HEARTBEAT]);
});

test('P12: a listener that is closed twice is an error the second time, and the session goes on', async () => {
  const session = await sdkSession(lab.gateway, lab.credential.authtoken);
  const listener = await httpName(session, newName()).listen();
  await listener.close();
  await expect(listener.close()).rejects.toThrow(/no tunnel/);
  const name = newName();
  await httpName(session, name).listenAndForward((await hello()).url);
  expect((await get(name)).body).toBe('hello');
});

test('P13: calls of `forward` in one process share a session, whatever address the later ones give', async () => {
  const own = await lab.gateway.newAccount();
  const upstream = await hello();
  const [{ authtoken }, first, second] = [await newCredential(own), newName(), newName()];
  const config = {
    addr: upstream.url,
    authtoken,
    schemes: ['HTTP'],
    server_addr: lab.gateway.agent,
    session_ca_cert: lab.gateway.ca,
  };
  const elsewhere = { ...config, server_addr: '127.0.0.1:1' };
  const { outcomes } = await sdkProcess([
    { ...config, domain: first },
    { ...elsewhere, domain: second },
    { ...config, domain: newName(), force_new_session: true },
    { ...elsewhere, domain: newName(), force_new_session: true },
  ]);
  expect(outcomes[3]).toMatch(/^failed: /);
  expect([(await get(first)).body, (await get(second)).body]).toEqual(['hello', 'hello']);
  expect(await sessions(own)).toHaveLength(2);
});

test('P14: the names of members are taken in any case', async () => {
  const agent = await rawAgent(lab.gateway);
  const extra = { AUTHTOKEN: lab.credential.authtoken, metadata: 'm' };
  const identity = await agent.call(StreamType.AUTH, { version: ['2'], clientid: '', extra });
  expect(identity).toMatchObject({ Version: '3', Error: '' });
  const name = newName();
  const bound = await agent.call(StreamType.BIND, {
    proto: 'http',
    opts: { HOSTNAME: name },
    EXTRA: { metadata: 'm' },
  });
  expect(bound.Error).toBe('');
  expect((await get(name)).body).toBe(bound.Id);
  expect(codeOf(await agent.call(StreamType.UNBIND, { ID: 'tn_x' }))).toBe(90209);
});

// It writes its farewell wrongly, and its writing end dies of that; its reading end lives on.
test('an SDK session that is closed says nothing: it is over when its heartbeat fails', async () => {
  const own = await lab.gateway.newAccount();
  const [{ authtoken }, name] = [await newCredential(own), newName()];
  const session = await sdkSession(lab.gateway, authtoken);
  await httpName(session, name).listenAndForward((await hello()).url);
  await session.close();
  await eventually(async () => expect(await sessions(own)).toEqual([]), { timeout: INTERVAL + TOLERANCE + 1000 });
  await httpName(await sdkSession(lab.gateway, authtoken), name).listenAndForward((await hello()).url);
  expect((await get(name)).body).toBe('hello');
});

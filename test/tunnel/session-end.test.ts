// The end of sessions: silent agents, changed credentials, and peers that never authenticate.

import { once } from 'node:events';
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ErrorCode, StreamType } from '../../src/protocol/index.ts';
import { newCredential } from '../support/agents/live.ts';
import { codeOf, dial } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { visit } from '../support/visit.ts';
import { again, INTERVAL, rawAgents, TOLERANCE } from './raw-agents.ts';

const lab = rawAgents('session-end');
const { newName, agentOf, isServing } = lab;

/** What the listener grants who does not say who he is; milliseconds. */
const DEADLINE = 10_000;
/** How long a connection lasted that sent nothing after its TLS handshake; milliseconds. */
let silent: Promise<number>;
beforeAll(async () => {
  silent = silence(await dial(lab.gateway));
});

async function silence(socket: Socket): Promise<number> {
  const start = performance.now();
  await once(socket.resume(), 'close');
  return performance.now() - start;
}

describe('the end', () => {
  test('an agent that is silent is gone after interval and tolerance, and with it what it served', async () => {
    const own = await lab.gateway.newAccount();
    const agent = await agentOf(await newCredential(own), undefined, { mute: true });
    const start = performance.now();
    await agent.bind(newName());
    expect((await own.call('GET', '/endpoints')).body.endpoints).toHaveLength(1);
    await agent.closed;
    await eventually(async () => expect((await own.call('GET', '/endpoints')).body.endpoints).toEqual([]));
    expect((await own.call('GET', '/tunnel_sessions')).body.tunnel_sessions).toEqual([]);
    expect(performance.now() - start).toBeLessThan(INTERVAL + TOLERANCE + 1000);
  });

  test('an agent that breaks off the heartbeats is gone, too', async () => {
    const agent = await agentOf(lab.credential, undefined, { mute: true, onStream: (stream) => stream.reset() });
    expect((await agent.closed).code).toBe(ErrorCode.PROTOCOL);
  });

  test('an edit of the ACL stops exactly what it no longer allows, for visitors who are in as well', async () => {
    const own = await newCredential(lab.account);
    const agent = await agentOf(own);
    const [kept, denied] = [newName(), newName()];
    const label = (value: string) => agent.call(StreamType.START_TUNNEL_WITH_LABEL, { Labels: { door: value } });
    const bound = {
      kept: await agent.bind(kept),
      denied: await agent.bind(denied),
      tcp: await agent.bind('', { Proto: 'tcp', Opts: {} }),
      keptLabel: await label('front'),
      deniedLabel: await label('back'),
    };
    const visitor = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => visitor.destroy());
    const goOn = (name: string) => visit(`http://${name}`, lab.gateway.http, { agent: visitor });
    expect([(await goOn(kept)).status, (await goOn(denied)).status]).toEqual([200, 200]);

    await lab.account.call('PATCH', `/credentials/${own.credentialId}`, { acl: [`bind:${kept}`, 'bind:door=front'] });
    await eventually(() => expect(agent.asked).toHaveLength(3));
    const told = agent.asked.map(({ type, request }) => [type, request.Id, codeOf({ Error: request.ErrorCode })]);
    const { STOP_TUNNEL } = StreamType;
    expect(told.sort()).toEqual(
      [
        [STOP_TUNNEL, bound.denied.Id, 316],
        [STOP_TUNNEL, bound.tcp.Id, 308],
        [STOP_TUNNEL, bound.deniedLabel.Id, 399],
      ].sort(),
    );
    await eventually(async () => {
      const { body } = await lab.account.call('GET', '/tunnels');
      const ids = body.tunnels.map(({ id }: { id: string }) => id);
      expect(Object.values(bound).filter(({ Id }) => ids.includes(Id))).toEqual([bound.kept, bound.keptLabel]);
    });
    expect([(await goOn(kept)).status, (await goOn(denied)).status]).toEqual([200, 404]);
    expect(codeOf(await agent.bind(denied, again(bound.denied)))).toBe(316);
  });

  test('an owner who is no longer active has no sessions any more', async () => {
    const { body: bot } = await lab.account.call('POST', '/bot_users', { name: 'a door' });
    const agent = await agentOf(await newCredential(lab.account, { owner_id: bot.id }));
    const bystander = await agentOf();
    await lab.account.call('PATCH', `/bot_users/${bot.id}`, { active: false });
    expect((await agent.closed).message).toBe('the credential was revoked');
    await isServing(bystander);
  });

  // The database is busy with them for a while: it comes where there is something to wait for anyway.
  test('a session has at most 1,000 tunnels, counting those that are being opened', async () => {
    const agent = await agentOf();
    const open = () => agent.call(StreamType.START_TUNNEL_WITH_LABEL, { Labels: { a: 'b' } });
    const first = Array.from({ length: 1000 }, () => open().catch(() => {}));
    expect(codeOf(await open())).toBe(90210);
    agent.close();
    await Promise.all(first);
  });

  test('who does not authenticate is cut off after ten seconds', async () => {
    const lasted = await silent;
    expect(lasted).toBeGreaterThan(DEADLINE - 500);
    expect(lasted).toBeLessThan(DEADLINE + 3000);
  });
});

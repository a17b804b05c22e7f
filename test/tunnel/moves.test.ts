// Sessions that take the place of an earlier one, which stays until its visitors are gone: what the gateway allows. Real TLS, raw
// frames. Moves between processes are in `test/workers` and `test/cluster`.

import { describe, expect, test } from 'vitest';
import { ErrorCode, StreamType } from '../../src/protocol/index.ts';
import { newCredential } from '../support/agents/live.ts';
import { codeOf, type RawAgent, type Reply } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { again, back, rawAgents } from './raw-agents.ts';

const lab = rawAgents('moves');
const { newName, get, agentOf } = lab;

/** What an agent says that moves to another session. */
const moves = ({ identity }: { identity: Reply }, LegNumber = 0) => ({
  ClientId: identity.ClientId,
  Extra: { Cookie: identity.Extra.Cookie, LegNumber, Moves: true },
});

const isOpen = async (agent: RawAgent) => (await agent.call(StreamType.SERVER_INFO, {})).Region === '';

/** The numbers of the sessions that serve a tunnel. */
async function legsOf(tunnelId: string): Promise<number[]> {
  const { body } = await lab.account.graphql(`{ tunnel(id: "${tunnelId}") { legs { number } } }`);
  return (body.data.tunnel?.legs ?? []).map(({ number }: { number: number }) => number);
}

test('the gateway says that it knows moves, before the authentication', async () => {
  const agent = await agentOf();
  expect(await agent.call(StreamType.SERVER_INFO, {})).toMatchObject({ TakesMoves: true });
  expect(Object.keys(agent.identity.Extra)).not.toContain('TakesMoves');
});

describe('an agent that moves', () => {
  test('has both sessions, and a tunnel in both that is one', async () => {
    const first = await agentOf();
    const name = newName();
    const bound = await first.bind(name);
    const second = await agentOf(lab.credential, moves(first));
    expect(second.identity.ClientId).toBe(first.identity.ClientId);
    expect(await second.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id, URL: bound.URL });
    expect([await isOpen(first), await isOpen(second)]).toEqual([true, true]);
    expect(await legsOf(bound.Id)).toEqual([0, 4]);
    first.close();
    await eventually(async () => expect(await legsOf(bound.Id)).toEqual([0]));
    expect(await get(name)).toBe(200);
  });

  test('may move again and again while earlier sessions stay; of too many, the last one ends', async () => {
    const sessions = [await agentOf()];
    const bound = await (sessions[0] as RawAgent).bind(newName());
    const next = async () => {
      const session = await agentOf(lab.credential, moves(sessions[0] as RawAgent & { identity: Reply }));
      expect((await session.bind('', { ...again(bound), Opts: bound.Opts })).Error).toBe('');
      sessions.push(session);
    };
    for (let move = 0; move < 3; move++) await next();
    expect(await legsOf(bound.Id)).toEqual([0, 4, 8, 12]);
    await next();
    expect((await sessions[3]?.closed)?.code).toBe(ErrorCode.CANCELLED);
    expect(await legsOf(bound.Id)).toEqual([0, 4, 8, 12]);
    // The number of one that has ended is free.
    sessions[1]?.close();
    await eventually(async () => expect(await legsOf(bound.Id)).toEqual([0, 4, 12]));
    await next();
    expect(await legsOf(bound.Id)).toEqual([0, 4, 8, 12]);
  });

  test('has other sessions, which move at the same time', async () => {
    const first = await agentOf();
    const second = await agentOf(lab.credential, { ...back(first), Extra: { ...back(first).Extra, LegNumber: 1 } });
    const bound = await first.bind(newName());
    await second.bind('', { ...again(bound), Opts: bound.Opts });
    const moved = await Promise.all([0, 1].map((leg) => agentOf(lab.credential, moves(first, leg))));
    for (const session of moved) await session.bind('', { ...again(bound), Opts: bound.Opts });
    expect(await legsOf(bound.Id)).toEqual([0, 1, 4, 5]);
  });

  test('without its cookie is another agent: it gets no name of the first, which goes on', async () => {
    const first = await agentOf();
    const name = newName();
    const bound = await first.bind(name);
    const other = await agentOf(lab.credential, { ClientId: first.identity.ClientId, Extra: { Moves: true } });
    expect(other.identity.ClientId).not.toBe(first.identity.ClientId);
    expect(codeOf(await other.bind(name))).toBe(334);
    expect(await isOpen(first)).toBe(true);
    expect(await legsOf(bound.Id)).toEqual([0]);
  });

  test('with another credential has no second session beside the first', async () => {
    const first = await agentOf();
    await agentOf(await newCredential(lab.account), moves(first));
    expect(await first.closed).toMatchObject({
      code: ErrorCode.CANCELLED,
      message: 'replaced by a new session elsewhere',
    });
  });

  test('of another account gets nothing, whatever it has seen', async () => {
    const first = await agentOf();
    const name = newName();
    const bound = await first.bind(name);
    const stranger = await agentOf(await newCredential(await lab.gateway.newAccount()), moves(first));
    expect(stranger.identity.ClientId).not.toBe(first.identity.ClientId);
    expect(codeOf(await stranger.bind(name, again(bound)))).toBe(320);
    expect([await isOpen(first), await get(name)]).toEqual([true, 200]);
  });
});

test('an agent that does not move replaces its session, and not one that it has moved from', async () => {
  const first = await agentOf();
  const second = await agentOf(lab.credential, moves(first));
  const third = await agentOf(lab.credential, back(first));
  expect((await second.closed).message).toMatch(/^replaced by a new session from 127\.0\.0\.1/);
  expect([await isOpen(first), await isOpen(third)]).toEqual([true, true]);
});

// Agents with several sessions at one gateway: how the sessions stand beside each other, and what they serve together. Real TLS,
// raw frames.

import { describe, expect, test } from 'vitest';
import { ErrorCode, StreamType } from '../../src/protocol/index.ts';
import { waiting } from '../events/waiting.ts';
import { newCredential } from '../support/agents/live.ts';
import { codeOf, type RawAgent, type Reply, rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { visit } from '../support/visit.ts';
import { again, back, rawAgents } from './raw-agents.ts';

const lab = rawAgents('legs');
const { newName, get, agentOf } = lab;

/** What an agent says to have a further session beside one. */
const beside = ({ identity }: { identity: Reply }, LegNumber = 1) => ({
  ClientId: identity.ClientId,
  Extra: { Cookie: identity.Extra.Cookie, LegNumber },
});

/** Two sessions of one agent. */
async function twoLegs() {
  const first = await agentOf();
  return { first, second: await agentOf(lab.credential, beside(first)) };
}

/** A tunnel that both sessions serve. */
async function servedByBoth() {
  const { first, second } = await twoLegs();
  const name = newName();
  const bound = await first.bind(name);
  expect(await second.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id, URL: bound.URL });
  return { first, second, name, bound };
}

const isOpen = async (agent: RawAgent) => (await agent.call(StreamType.SERVER_INFO, {})).Region === '';

const LEGS = '{ legs { number nodeId session { id tunnels { id } } } }';
const legsOf = async (tunnelId: string) => {
  const query = `query ($tunnel: ID!, $endpoint: ID!) { tunnel(id: $tunnel) ${LEGS} endpoint(id: $endpoint) ${LEGS} }`;
  const { body } = await lab.account.graphql(query, { tunnel: tunnelId, endpoint: tunnelId.replace('tn_', 'ep_') });
  expect(body.errors).toBeUndefined();
  expect(body.data.endpoint).toEqual(body.data.tunnel);
  return body.data.tunnel.legs as { number: number; nodeId: string; session: { id: string; tunnels: object[] } }[];
};

describe('a further session', () => {
  test('stands beside the first, and only one with the same number replaces it', async () => {
    const { first, second } = await twoLegs();
    expect(second.identity.ClientId).toBe(first.identity.ClientId);
    const again = await agentOf(lab.credential, beside(first));
    expect((await second.closed).message).toMatch(/^replaced by a new session from 127\.0\.0\.1/);
    const returned = await agentOf(lab.credential, back(first));
    expect((await first.closed).message).toMatch(/^replaced by a new session from 127\.0\.0\.1/);
    expect([await isOpen(again), await isOpen(returned)]).toEqual([true, true]);
  });

  test('is refused without the cookie of the first', async () => {
    const { identity } = await agentOf();
    const { authtoken } = lab.credential;
    for (const ClientId of ['', identity.ClientId]) {
      const reply = await (await rawAgent(lab.gateway)).auth(authtoken, { ClientId, Extra: { LegNumber: 1 } });
      expect(codeOf(reply)).toBe(90217);
      expect(reply.Error).toContain('must come with the ClientId and the Cookie');
    }
  });

  test.each([4, -1, 0.5])('is refused with the number %s', async (LegNumber) => {
    const first = await agentOf();
    const reply = await (await rawAgent(lab.gateway)).auth(lab.credential.authtoken, beside(first, LegNumber));
    expect(codeOf(reply)).toBe(90216);
    expect(reply.Error).toContain(`a whole number from 0 to 3; it is ${LegNumber}.`);
  });

  test('learns the node, before and with its admission', async () => {
    const { identity, call } = await agentOf();
    const { Node } = await call(StreamType.SERVER_INFO, {});
    expect(Node).toMatch(/^node_/);
    expect(identity.Extra).toMatchObject({ Node });
    expect(identity.Extra).not.toHaveProperty('ConnectAddresses');
  });
});

describe('a tunnel of two sessions', () => {
  test('is one tunnel and one endpoint with two legs, and both serve its visitors', async () => {
    const streams = { first: 0, second: 0 };
    const first = await agentOf(lab.credential, {}, { onStream: () => void streams.first++ });
    const second = await agentOf(lab.credential, beside(first), { onStream: () => void streams.second++ });
    const name = newName();
    const bound = await first.bind(name);
    await second.bind(name, again(bound));
    const before = { ...streams };
    const visits = Array.from({ length: 8 }, () => visit(`http://${name}`, lab.gateway.http));
    for (const answer of await Promise.all(visits)) expect(answer).toMatchObject({ status: 200, body: bound.Id });
    expect(streams.first).toBeGreaterThan(before.first);
    expect(streams.second).toBeGreaterThan(before.second);
    const { body } = await lab.account.call('GET', '/endpoints');
    expect(body.endpoints.filter(({ hostport }: Reply) => hostport.startsWith(name))).toHaveLength(1);
    const legs = await legsOf(bound.Id);
    expect(legs.map(({ number }) => number)).toEqual([0, 1]);
    for (const { nodeId, session } of legs) {
      expect(nodeId).toBe(first.identity.Extra.Node);
      expect(session.tunnels).toEqual([{ id: bound.Id }]);
    }
  });

  test.each(['first', 'second'] as const)('goes on when its %s session is lost', async (lost) => {
    const { first, second, name, bound } = await servedByBoth();
    const [gone, left] = lost === 'first' ? [first, second] : [second, first];
    gone.socket.destroy();
    await eventually(async () => expect(await legsOf(bound.Id)).toHaveLength(1));
    expect(await get(name)).toBe(200);
    const [leg] = await legsOf(bound.Id);
    expect(leg?.number).toBe(left === first ? 0 : 1);
    const returned = await agentOf(lab.credential, beside(first, lost === 'first' ? 0 : 1));
    expect(await returned.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id });
    expect((await legsOf(bound.Id)).map(({ number }) => number)).toEqual([0, 1]);
  });

  test('ends when the agent has closed it in both, and is told of once', async () => {
    const { events } = await waiting(lab.gateway, lab.account, ['endpoint_online.v0', 'endpoint_offline.v0']);
    const { first, second, name, bound } = await servedByBoth();
    expect(await first.call(StreamType.UNBIND, { Id: bound.Id })).toMatchObject({ Error: '' });
    expect(await get(name)).toBe(200);
    expect((await legsOf(bound.Id)).map(({ number }) => number)).toEqual([1]);
    expect(await second.call(StreamType.UNBIND, { Id: bound.Id })).toMatchObject({ Error: '' });
    expect((await lab.account.call('GET', `/tunnels/${bound.Id}`)).status).toBe(404);
    const told = (await events()).filter(({ object }) => object.hostport.startsWith(name));
    expect(told.map((event) => event.event_type)).toEqual(['endpoint_online.v0', 'endpoint_offline.v0']);
    // The name is free at once.
    const other = await agentOf(await newCredential(lab.account));
    expect((await other.bind(name)).Error).toBe('');
  });

  test('keeps its other leg when one session binds it once more', async () => {
    const { first, second, name, bound } = await servedByBoth();
    for (const [agent, Metadata] of [[first, 'one'] as const, [second, 'two'] as const]) {
      const more = { ...again(bound), Extra: { ...again(bound).Extra, Metadata } };
      expect(await agent.bind(name, more)).toMatchObject({ Error: '', Id: bound.Id });
      expect(await legsOf(bound.Id)).toHaveLength(2);
      expect((await lab.account.call('GET', `/tunnels/${bound.Id}`)).body.metadata).toBe(Metadata);
    }
    expect(await get(name)).toBe(200);
  });

  test('that another agent resumes is taken away from both', async () => {
    const { first, second, name, bound } = await servedByBoth();
    const other = await agentOf();
    expect(await other.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id });
    expect([(await first.closed).code, (await second.closed).code]).toEqual([ErrorCode.CANCELLED, ErrorCode.CANCELLED]);
    expect(await get(name)).toBe(200);
    expect(await legsOf(bound.Id)).toHaveLength(1);
  });

  test('ends in both when the ACL of its credential no longer allows it', async () => {
    const credential = await newCredential(lab.account);
    const first = await agentOf(credential);
    const second = await agentOf(credential, beside(first));
    const bound = await first.bind(newName());
    await second.bind('', { ...again(bound), Opts: bound.Opts });
    await lab.account.call('PATCH', `/credentials/${credential.credentialId}`, { acl: ['bind:other.example.com'] });
    const stopped = ({ asked }: RawAgent) => asked.some(({ type }) => type === StreamType.STOP_TUNNEL);
    await eventually(() => expect([stopped(first), stopped(second)]).toEqual([true, true]));
    await eventually(async () => expect((await lab.account.call('GET', `/tunnels/${bound.Id}`)).status).toBe(404));
  });

  test('with labels is one, too, where the agent says which it means', async () => {
    const { first, second } = await twoLegs();
    const request = { Labels: { site: newName(), app: 'shop' }, ForwardsTo: '', ForwardsProto: '', Metadata: '' };
    const bound = await first.call(StreamType.START_TUNNEL_WITH_LABEL, request);
    const joins = { ...request, ...again(bound), Labels: { app: 'shop', site: request.Labels.site } };
    expect(await second.call(StreamType.START_TUNNEL_WITH_LABEL, joins)).toMatchObject({ Error: '', Id: bound.Id });
    const forged = { ...joins, Labels: { app: 'other' } };
    const other = await second.call(StreamType.START_TUNNEL_WITH_LABEL, forged);
    expect(other).toMatchObject({ Error: '', Id: expect.not.stringMatching(bound.Id) });
    const numbers = async () => {
      const { body } = await lab.account.graphql(`{ tunnel(id: "${bound.Id}") { legs { number } } }`);
      return body.data.tunnel?.legs.map(({ number }: { number: number }) => number);
    };
    expect(await numbers()).toEqual([0, 1]);
    first.close();
    await eventually(async () => expect(await numbers()).toEqual([1]));
    second.close();
    await eventually(async () => expect(await numbers()).toBeUndefined());
  });
});

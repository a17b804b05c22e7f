// An agent with sessions at two gateways on one server: what the API shows, where visitors get, and what is told when sessions end.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StreamType } from '../../src/protocol/index.ts';
import { waiting } from '../events/waiting.ts';
import { newCredential, type TestCredential } from '../support/agents/live.ts';
import { type RawAgent, type Reply, rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { type Account, onServer, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace, type Place } from '../support/gateway/place.ts';
import { subscribe } from '../support/gateway/sse.ts';
import { visit } from '../support/visit.ts';

type Leg = RawAgent & { identity: Reply };

describe.runIf(onServer)('two gateways on one server', () => {
  let place: Place;
  let gateways: [TestGateway, TestGateway];
  let account: Account;
  let credential: TestCredential;
  let names = 0;
  beforeAll(async () => {
    place = await newPlace();
    const first = await startTestGateway({}, { place });
    gateways = [first, await startTestGateway({}, { place })];
    account = await first.newAccount();
    credential = await newCredential(account);
  });
  afterAll(async () => {
    await Promise.all((gateways ?? []).map((gateway) => gateway.close()));
    await place?.remove();
  });

  async function legAt(gateway: TestGateway, more?: Parameters<RawAgent['auth']>[1]): Promise<Leg> {
    const agent = await rawAgent(gateway);
    const Extra = { RestartUnsupportedError: '', ...more?.Extra };
    const identity = await agent.auth(credential.authtoken, { ...more, Extra });
    expect(identity.Error).toBe('');
    return Object.assign(agent, { identity });
  }

  const beside = ({ identity }: Leg, LegNumber: number) => ({
    ClientId: identity.ClientId,
    Extra: { Cookie: identity.Extra.Cookie, LegNumber },
  });
  const again = ({ Id, Extra }: Reply) => ({ Id, Extra: { Token: Extra.Token } });

  /** A tunnel that an agent serves at both gateways. */
  async function served(at: readonly [TestGateway, TestGateway] = gateways) {
    const name = `two-${++names}.tunnel.localhost`;
    const first = await legAt(at[0]);
    const bound = await first.bind(name);
    const second = await legAt(at[1], beside(first, 1));
    expect(await second.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id });
    return { legs: [first, second] as const, name, bound };
  }

  async function ask(gateway: TestGateway, tunnelId: string) {
    const query = `{ tunnel(id: "${tunnelId}") { tunnelSession { id } legs { number nodeId } } }`;
    const { body } = await gateway.graphql(query, {}, { key: account.key });
    return body.data.tunnel as { tunnelSession: { id: string }; legs: { number: number; nodeId: string }[] } | null;
  }

  const listed = async (gateway: TestGateway, name: string) => {
    const { body } = await gateway.call('GET', '/endpoints', undefined, { key: account.key });
    return body.endpoints.filter(({ hostport }: Reply) => hostport.startsWith(`${name}:`)).length as number;
  };

  test('it is one endpoint at both, and visitors of each get to the leg there', async () => {
    const { legs, name, bound } = await served();
    for (const [i, gateway] of gateways.entries()) {
      expect(await listed(gateway, name)).toBe(1);
      expect(await visit(`http://${name}`, gateway.http)).toMatchObject({ status: 200, body: bound.Id });
      const nodes = (await ask(gateway, bound.Id))?.legs.map(({ nodeId }) => nodeId);
      expect(nodes?.[i]).toBe(legs[i as 0 | 1].identity.Extra.Node);
      expect(new Set(nodes).size).toBe(2);
    }
  });

  test.each([
    ['the first', 0],
    ['the second', 1],
  ] as const)('when %s session is lost the endpoint stays, and the other node is told', async (_, lost) => {
    const { legs, name, bound } = await served();
    const [gone, left] = [legs[lost], legs[1 - lost] as Leg];
    const { events } = await waiting(gateways[0], account, ['endpoint_online.v0', 'endpoint_offline.v0']);
    const other = gateways[1 - lost] as TestGateway;
    const changes = await subscribe(other.api, account.key, 'subscription { endpointChanged { objectId action } }');
    gone.socket.destroy();
    const endpointId = bound.Id.replace('tn_', 'ep_');
    // What the binds have changed may be told late, and comes first then.
    let numbers: number[] | undefined;
    do {
      expect((await changes.next()).data.endpointChanged).toEqual({ objectId: endpointId, action: 'UPDATED' });
      numbers = (await ask(other, bound.Id))?.legs.map(({ number }) => number);
    } while (numbers?.length === 2);
    expect(numbers).toEqual([1 - lost]);
    changes.close();
    expect(await visit(`http://${name}`, other.http)).toMatchObject({ status: 200, body: bound.Id });
    const { nodeId } = await other.app.prisma.endpoint.findUniqueOrThrow({ where: { id: endpointId } });
    expect(nodeId).toBe(left.identity.Extra.Node);

    // It comes back, and serves again where it was.
    const returned = await legAt(gateways[lost], beside(legs[0], lost));
    expect(await returned.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id });
    expect(await visit(`http://${name}`, gateways[lost].http)).toMatchObject({ status: 200, body: bound.Id });
    expect(await events()).toEqual([]);
    returned.socket.destroy();
    left.socket.destroy();
    await eventually(async () => expect(await events()).toMatchObject([{ event_type: 'endpoint_offline.v0' }]));
    expect(await listed(other, name)).toBe(0);
  });

  test('sessions that are lost at the same moment leave nothing, and are told of once', async () => {
    const all = await Promise.all([served(), served([gateways[1], gateways[0]]), served()]);
    const { events } = await waiting(gateways[0], account, ['endpoint_online.v0', 'endpoint_offline.v0']);
    // One agent has its tunnels the other way round: each of its sessions is the other's heir.
    const [crossed] = all;
    const name = `two-${++names}.tunnel.localhost`;
    const bound = await crossed?.legs[1].bind(name);
    expect(await crossed?.legs[0].bind(name, again(bound ?? {}))).toMatchObject({ Error: '' });
    for (const { legs } of all) for (const { socket } of legs) socket.destroy();
    await eventually(async () => expect(await events('endpoint_offline.v0')).toHaveLength(4));
    expect(await account.call('GET', '/endpoints')).toMatchObject({ body: { endpoints: [] } });
    expect(await gateways[0].app.prisma.tunnelLeg.count()).toBe(0);
    expect(await events('endpoint_online.v0')).toHaveLength(1);
  });

  test('a gateway that stops leaves its tunnels to the other', async () => {
    const stopping = await startTestGateway({}, { place });
    const { legs, name, bound } = await served([stopping, gateways[0]]);
    const { events } = await waiting(gateways[0], account, ['endpoint_online.v0', 'endpoint_offline.v0']);
    await stopping.close();
    expect(await ask(gateways[0], bound.Id)).toMatchObject({ legs: [{ number: 1 }] });
    expect(await visit(`http://${name}`, gateways[0].http)).toMatchObject({ status: 200, body: bound.Id });
    expect(await legs[1].call(StreamType.UNBIND, { Id: bound.Id })).toMatchObject({ Error: '' });
    expect((await events()).map((event) => event.event_type)).toEqual(['endpoint_offline.v0']);
  });

  test('an agent that closes its tunnel in both at once ends it once', async () => {
    const { events } = await waiting(gateways[0], account, ['endpoint_offline.v0']);
    const { legs, name, bound } = await served();
    const replies = await Promise.all(legs.map((leg) => leg.call(StreamType.UNBIND, { Id: bound.Id })));
    expect(replies).toMatchObject([{ Error: '' }, { Error: '' }]);
    expect(await ask(gateways[0], bound.Id)).toBeNull();
    expect(await listed(gateways[1], name)).toBe(0);
    expect(await events()).toHaveLength(1);
  });

  test('a command reaches the agent by whichever session it is given to', async () => {
    const { legs, bound } = await served();
    const { body } = await account.graphql(`{ tunnel(id: "${bound.Id}") { legs { session { id } } } }`);
    for (const [i, { session }] of body.data.tunnel.legs.entries()) {
      expect((await account.call('POST', `/tunnel_sessions/${session.id}/restart`)).status).toBe(204);
      expect(legs[i as 0 | 1].asked).toMatchObject([{ type: StreamType.RESTART }]);
    }
  });
});

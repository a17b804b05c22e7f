// A node that stops while an agent that does not move has a long stream: its session is suspended for a second, and then resumed.

import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { StreamType } from '../../src/protocol/index.ts';
import { newCredential, type TestCredential } from '../support/agents/live.ts';
import { codeOf, type RawAgent, type Reply, rawAgent } from '../support/agents/raw-agent.ts';
import { onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';
import { back, again as resuming } from '../tunnel/raw-agents.ts';
import { startCluster } from './support.ts';

const LONG = { timeout: 60_000 };
/** A visit that takes so long was kept waiting; milliseconds. */
const HELD_MS = 500;

interface SuspendedName {
  entry: TestGateway;
  owner: TestGateway;
  credential: TestCredential;
  /** The agent that has it, at the owner. */
  agent: RawAgent & { identity: Reply };
  name: string;
  bound: Reply;
  /** Lets the owner stop, and does something again and again while a visitor of the name is kept waiting. */
  whileSuspended(act: () => Promise<unknown>): Promise<void>;
}

/** A name of such an agent. */
async function suspendedName(Extra: object = {}): Promise<SuspendedName> {
  const cluster = await startCluster(2, { DRAIN_MS: '25000' });
  onTestFinished(() => cluster.close());
  const [owner, entry] = cluster.gateways as [TestGateway, TestGateway];
  const credential = await newCredential(cluster.account);
  const raw = await rawAgent(owner);
  const agent = Object.assign(raw, { identity: await raw.auth(credential.authtoken, { Extra }) });
  const name = 'suspended.tunnel.localhost';
  const bound = await agent.bind(name);
  const tcp = await agent.bind('', { Proto: 'tcp', Opts: { Addr: '' } });
  const { hostname, port } = new URL(tcp.URL);
  const stream = connect(Number(port), owner.agent.split(':')[0] ?? hostname).on('error', () => {});
  onTestFinished(() => void stream.destroy());
  stream.write('GET / HTTP/1.1\r\n\r\n');
  await once(stream, 'data');
  return {
    ...{ owner, entry, credential, agent, name, bound },
    async whileSuspended(act) {
      void owner.close();
      for (let wasHeld = false; !wasHeld; ) {
        const begun = performance.now();
        let isOver = false;
        const visited = visit(`http://${name}/`, entry.http).finally(() => {
          isOver = true;
          wasHeld = performance.now() - begun > HELD_MS;
        });
        visited.catch(() => {}); // It is told below, after what is done meanwhile.
        while (!isOver) await act();
        expect((await visited).status).toBe(200);
      }
    },
  };
}

/** How many endpoints a node finds for visitors. */
async function endpointsAt({ admin }: TestGateway): Promise<number> {
  const metrics = await (await fetch(`${admin}/metrics`)).text();
  return Number(/^tunnel_endpoints (\d+)/m.exec(metrics)?.[1]);
}

test.runIf(onServer).each<[agent: string, extra: object, asked: number[]]>([
  ['knows no moves', {}, []],
  ['says that it has moved, and has not', { MoveUnsupportedError: '' }, [StreamType.MOVE]],
])(
  'what an agent that %s binds while it is suspended is served once, and gone when it is unbound',
  LONG,
  async (_, extra, asked) => {
    const { owner, entry, agent, name, bound, whileSuspended } = await suspendedName(extra);
    const again = 'again.tunnel.localhost';
    const boundAgain = await agent.bind(again);
    const others: { name: string; id: string }[] = [];
    await whileSuspended(async () => {
      const other = { name: `suspended-${others.length}.tunnel.localhost`, id: '' };
      const { Id, Error: refused } = await agent.bind(other.name);
      expect(refused).toBe('');
      others.push({ ...other, id: Id });
      // The same once more takes the place of what it had.
      expect(await agent.bind(again, resuming(boundAgain))).toMatchObject({ Error: '', Id: boundAgain.Id });
    });
    const isServed = async (one: string, id: string) =>
      expect(await visit(`http://${one}/`, entry.http)).toMatchObject({ status: 200, body: id });
    await isServed(name, bound.Id);
    await isServed(again, boundAgain.Id);
    for (const other of others) await isServed(other.name, other.id);
    expect(await endpointsAt(owner)).toBe(others.length + 3);
    for (const { id } of others) expect((await agent.call(StreamType.UNBIND, { Id: id })).Error).toBe('');
    expect(await endpointsAt(owner)).toBe(3);
    await isServed(name, bound.Id);
    expect(agent.asked.map(({ type }) => type)).toEqual(asked);
  },
);

test.runIf(onServer)(
  'a name of a suspended session goes to its agent at another node, and to nobody else',
  LONG,
  async () => {
    const { entry, credential, agent, name, bound, whileSuspended } = await suspendedName();
    const other = await rawAgent(entry);
    await other.auth(credential.authtoken);
    await whileSuspended(async () => expect(codeOf(await other.bind(name))).toBe(334));

    const returned = await rawAgent(entry);
    await returned.auth(credential.authtoken, back(agent));
    expect(await returned.bind(name, resuming(bound))).toMatchObject({
      Error: '',
      Id: bound.Id,
      URL: expect.any(String),
    });
    expect((await agent.closed).message).toBe('replaced by a new session elsewhere');
    expect(await visit(`http://${name}/`, entry.http)).toMatchObject({ status: 200, body: bound.Id });
  },
);

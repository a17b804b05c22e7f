// A node that stops, and the requests that other nodes have sent to it.

import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { StreamType } from '../../src/protocol/index.ts';
import { newEdge, visitEdge } from '../live/edges/support.ts';
import { newCredential } from '../support/agents/live.ts';
import { type RawAgent, type Reply, rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { type Visit, visit } from '../support/visit.ts';
import { again, back } from '../tunnel/raw-agents.ts';
import { agentAt, named, serve, service, startCluster } from './support.ts';

/** Far more than a request takes, and less than the time to drain; milliseconds. */
const STOPPED_MS = 15_000;

test.runIf(onServer)(
  'it lets the requests of other nodes end, and does not wait for their next ones',
  {
    timeout: 60_000,
  },
  async () => {
    const cluster = await startCluster(2, { DRAIN_MS: '25000' });
    onTestFinished(() => cluster.close());
    const [owner, entry] = cluster.gateways as [TestGateway, TestGateway];
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    let answerLate = () => {};
    const port = await service((request, response) => {
      if (request.url !== '/late') return void response.end('now');
      answerLate = () => void response.end('late');
      isAsked();
    });
    const url = await serve(await agentAt(owner, cluster.account), port);
    // A visitor whose connection, and whose stream to the tunnel, is always in use.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    expect((await visit(url, entry.http, { agent })).body).toBe('now');
    let isStopped = false;
    const busy = (async () => {
      while (!isStopped) await visit(url, entry.http, { agent }).catch(() => undefined);
    })();
    const late = visit(`${url}/late`, entry.http);
    await asked;

    const begun = performance.now();
    const closed = owner.close();
    answerLate();
    expect((await late).body).toBe('late');
    await closed;
    isStopped = true;
    await busy;
    expect(performance.now() - begun).toBeLessThan(STOPPED_MS);
  },
);

test.runIf(onServer).each([
  ['a name', 'there', 2],
  ['an edge', 'there', 2],
  ['an edge', 'at a third', 3],
] as const)(
  'its agent connects to another node, and visitors of %s %s wait for it instead of being told that it is offline',
  { timeout: 60_000 },
  async (kind, _, nodes) => {
    const cluster = await startCluster(nodes);
    onTestFinished(() => cluster.close());
    const [owner, next, entry = next] = cluster.gateways as [TestGateway, TestGateway, TestGateway?];
    const { authtoken } = await newCredential(cluster.account);
    const labels = { site: 'moving' };
    const bind = (agent: RawAgent, before: Reply = {}) =>
      kind === 'a name'
        ? agent.bind('moving.tunnel.localhost', before)
        : agent.call(StreamType.START_TUNNEL_WITH_LABEL, { Labels: labels, ...before });
    await returningAgent([owner, next], authtoken, bind);
    const edge = kind === 'an edge' ? await newEdge(cluster.account, { labels }) : undefined;
    const come = () => (edge ? visitEdge(entry, edge) : visit('http://moving.tunnel.localhost/', entry.http));
    await eventually(async () => expect((await come()).status).toBe(200));
    const answers: string[] = [];
    let isOver = false;
    const visitors = Array.from({ length: 5 }, async () => {
      while (!isOver) answers.push(outcome(await come()));
    });
    await eventually(() => expect(answers.length).toBeGreaterThan(10));
    await owner.close();
    const count = answers.length;
    await eventually(() => expect(answers.length).toBeGreaterThan(count + 10));
    isOver = true;
    await Promise.all(visitors);
    expect(new Set(answers)).toEqual(new Set(['200']));
  },
);

test.runIf(onServer)('visitors of an agent that does not come back are told so after three seconds', async () => {
  const cluster = await startCluster(2);
  onTestFinished(() => cluster.close());
  const [owner, entry] = cluster.gateways as [TestGateway, TestGateway];
  const url = await serve(await agentAt(owner, cluster.account), await named('gone'));
  expect((await visit(url, entry.http)).status).toBe(200);
  const begun = performance.now();
  await owner.close();
  const { status, body } = await visit(url, entry.http);
  expect([status, body]).toEqual([502, expect.stringContaining('ERR_GATEWAY_90100')]);
  expect(performance.now() - begun).toBeGreaterThan(2900);
});

/** How long an agent is away, in milliseconds: long enough for visitors to notice. */
const AWAY_MS = 500;

/** An agent that knows no moves, as SDKs do not: when its session ends, it connects elsewhere and asks for the same again. */
async function returningAgent(
  [first, second]: readonly [TestGateway, TestGateway],
  authtoken: string,
  bind: (agent: RawAgent, before?: Reply) => Promise<Reply>,
): Promise<void> {
  const agent = await rawAgent(first);
  const identity = await agent.auth(authtoken);
  const bound = await bind(agent);
  expect(bound.Error).toBe('');
  void agent.closed.then(async () => {
    await pause(AWAY_MS);
    const returned = await rawAgent(second);
    await returned.auth(authtoken, back({ identity }));
    await bind(returned, again(bound));
  });
}

const outcome = ({ status, headers }: Visit) => [status, headers['gateway-error-code']].join(' ').trim();

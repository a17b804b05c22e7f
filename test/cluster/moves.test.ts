// A node that stops, and agents of ours: they have their tunnels at another node before.

import { expect, onTestFinished, test } from 'vitest';
import { newClient, PATIENT } from '../agent/client/support.ts';
import { newEdge, visitEdge } from '../live/edges/support.ts';
import { newCredential } from '../support/agents/live.ts';
import { eventually } from '../support/eventually.ts';
import { onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';
import { named, startCluster } from './support.ts';

test.runIf(onServer).each(['a name', 'an edge'])(
  'an agent of ours is at another node before its own one stops, and visitors of %s do not notice',
  { timeout: 60_000 },
  async (kind) => {
    const cluster = await startCluster(2, { DRAIN_MS: '25000' });
    onTestFinished(() => cluster.close());
    const [owner, entry] = cluster.gateways as [TestGateway, TestGateway];
    const { authtoken } = await newCredential(cluster.account);
    const gateways = [owner, entry].map(({ agent }) => {
      const [host = '', port] = agent.split(':');
      return { host, port: Number(port) };
    });
    const [first] = gateways as [(typeof gateways)[number]];
    // It takes the addresses in their order.
    let rank = 0;
    const timing = { ...PATIENT, random: () => rank++ / 1000 };
    const { client, open, until } = newClient({ ...first, ca: owner.ca }, { authtoken, gateways, legs: 1 }, timing);
    onTestFinished(() => client.close());
    const forwardsTo = `127.0.0.1:${await named('here')}`;
    const labels = { site: 'moves' };
    const tunnel = kind === 'a name' ? open({ forwardsTo }) : client.open({ labels, forwardsTo, metadata: '' });
    const url = await tunnel.answered;
    const edge = kind === 'an edge' ? await newEdge(cluster.account, { labels }) : undefined;
    const come = async () => (await (edge ? visitEdge(entry, edge) : visit(url, entry.http))).status;
    await eventually(async () => expect(await come()).toBe(200));
    const nodeOfAgent = () => client.status.legs[0]?.node;
    const before = nodeOfAgent();
    const seen = new Set<string>();
    void until(() => {
      seen.add(`${client.status.state} ${tunnel.state}`);
      return false;
    });
    let isOver = false;
    const answers: number[] = [];
    const visitors = Array.from({ length: 5 }, async () => {
      while (!isOver) answers.push(await come());
    });
    await eventually(() => expect(answers.length).toBeGreaterThan(10));
    await owner.close();
    const count = answers.length;
    await eventually(() => expect(answers.length).toBeGreaterThan(count + 10));
    isOver = true;
    await Promise.all(visitors);
    expect(new Set(answers)).toEqual(new Set([200]));
    expect(seen).toEqual(new Set(['online active']));
    expect(nodeOfAgent()).not.toBe(before);
    expect(client.status.sessions).toBe(2);
  },
);

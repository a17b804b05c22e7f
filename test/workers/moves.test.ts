// An upgrade, as an agent of ours and its visitors see it.

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../agent/client/peer.ts';
import { newClient, PATIENT } from '../agent/client/support.ts';
import { named, serve } from '../cluster/support.ts';
import { eventually } from '../support/eventually.ts';
import { startProcessGroup } from './support.ts';
import { startVisitors } from './visitors.ts';

test('an agent of ours is at the new processes before it leaves the old ones: it is never away, no visit fails, and its streams go on', {
  timeout: 180_000,
}, async () => {
  const group = await startProcessGroup();
  onTestFinished(() => group.close());
  const { gateway, ca } = group;
  const [host = '', port] = gateway.agent.split(':');
  const agent = newClient({ host, port: Number(port), ca }, { authtoken: gateway.authtoken ?? '' }, PATIENT);
  onTestFinished(() => agent.client.close());
  const name = 'stays.tunnel.localhost';
  const answer = `here ${name} /`;
  await serve(agent, await named('here'), { domain: name });
  const echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  onTestFinished(() => void echo.close());
  const tcp = agent.open({ protocol: 'tcp', forwardsTo: `127.0.0.1:${await listen(echo)}` });
  const tcpPort = Number(new URL(await tcp.answered).port);

  const states = new Set<string>();
  void agent.until(() => {
    states.add(`${agent.client.status.state} ${tcp.state}`);
    return false;
  });
  const node = () => agent.client.status.legs[0]?.node ?? '';
  const echoes = async (socket: ReturnType<typeof connect>) => {
    socket.write('x');
    expect(`${(await once(socket, 'data'))[0]}`).toBe('x');
  };
  const visitAtPort = async () => {
    const socket = connect(tcpPort, '127.0.0.1');
    await echoes(socket);
    socket.destroy();
  };
  const upgrade = async () => {
    const before = node();
    process.kill(gateway.pid, 'SIGHUP');
    await eventually(() => expect(node()).not.toBe(before), { timeout: 60_000 });
  };

  const visitors = [
    startVisitors(gateway.http, { [answer]: name }, 2),
    startVisitors(gateway.http, { [answer]: name }, 2, true),
  ];
  const more = () => Promise.all(visitors.map((some) => some.more(20)));
  let isOver = false;
  const atPort = (async () => {
    while (!isOver) await visitAtPort();
  })();
  const streams = [];
  try {
    await more();
    for (let turn = 0; turn < 2; turn++) {
      streams.push(connect(tcpPort, '127.0.0.1'));
      await echoes(streams[turn] as (typeof streams)[number]);
      await upgrade();
      await more();
      await Promise.all(streams.map(echoes));
    }
    // Each stream keeps the session to which it came.
    const sessions = async () => (await gateway.call('GET', '/tunnel_sessions')).body.tunnel_sessions.length;
    await eventually(async () => expect(await sessions()).toBe(3));
    for (const stream of streams) stream.destroy();
    await eventually(async () => expect(await sessions()).toBe(1));
  } finally {
    isOver = true;
    await Promise.all([atPort, ...visitors.map((some) => some.stop())]);
    for (const stream of streams) stream.destroy();
  }
  expect(visitors.map(({ failures }) => failures)).toEqual([[], []]);
  expect(states).toEqual(new Set(['online active']));
  expect(agent.client.status.sessions).toBe(3);
});

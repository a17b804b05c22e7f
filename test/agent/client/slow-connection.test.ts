// A line that is busy is not dead, although a heartbeat waits behind what was sent before it.

import { expect, test } from 'vitest';
import { noopStreamEvents } from '../../../src/protocol/index.ts';
import { startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { startPeer, startServer } from './peer.ts';
import { newClient } from './support.ts';

test('a transfer that fills a slow line does not end the session', async () => {
  const peer = await startPeer();
  const proxy = await startFaultProxy(peer.host, peer.port);
  proxy.shape({ bytesPerSecond: 1_000_000 }, 'up');
  const agent = newClient({ ...peer, port: proxy.port }, {}, { heartbeatInterval: 200, heartbeatTolerance: 400 });
  const session = await peer.session();
  const { port, server } = await startServer((socket) => socket.on('error', () => {}).end(Buffer.alloc(2 ** 19)));
  const tunnel = agent.open({ protocol: 'tcp', forwardsTo: `127.0.0.1:${port}` });
  await tunnel.answered;
  const visits = [1, 2, 3, 4].map(
    () =>
      new Promise((resolve, reject) => {
        const stream = session.visit(tunnel.resumption?.tunnelId ?? '');
        stream.events = {
          ...noopStreamEvents,
          onData: (chunk) => stream.consumed(chunk.length),
          onEnd: () => resolve(0),
          onReset: reject,
        };
      }),
  );
  await Promise.all(visits);
  expect(agent.client.status.sessions).toBe(1);
  await agent.client.close();
  await proxy.close();
  await peer.close();
  server.close();
}, 30_000);

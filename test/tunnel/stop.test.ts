// What a stop of the gateway does to visitors who are in the middle of something.

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../agent/client/peer.ts';
import { newClient, PATIENT } from '../agent/client/support.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

/** What else a stop does takes less, also on a machine that is busy. */
const DRAIN_MS = 4000;

test('all listeners have the same time to drain: one that is waited for does not keep the others open', async () => {
  const gateway = await startTestGateway({ DRAIN_MS: String(DRAIN_MS) });
  let reached = (_: ServerResponse) => {};
  const underWay = new Promise<ServerResponse>((resolve) => {
    reached = resolve;
  });
  const service = createServer((_, response) => reached(response));
  const echo = createTcpServer((socket) => socket.on('error', () => {}).pipe(socket));
  const [host = '', port] = gateway.agent.split(':');
  const agent = newClient(
    { host, port: Number(port), ca: gateway.ca },
    { authtoken: gateway.first?.authtoken ?? '' },
    PATIENT,
  );
  onTestFinished(async () => {
    await agent.client.close();
    service.close();
    service.closeAllConnections();
    echo.close();
  });
  const http = agent.open({ forwardsTo: `127.0.0.1:${await listen(service)}` });
  const tcp = agent.open({ protocol: 'tcp', forwardsTo: `127.0.0.1:${await listen(echo)}` });
  const [url, tcpUrl] = await Promise.all([http.answered, tcp.answered]);

  const talker = connect(Number(new URL(tcpUrl).port), '127.0.0.1').on('error', () => {});
  talker.write('hello');
  await once(talker, 'data');
  const answer = visit(url, gateway.http);
  const response = await underWay;

  const begun = performance.now();
  const stopped = gateway.close();
  await expect(visit(url, gateway.http)).rejects.toThrow('ECONNREFUSED');
  response.end('to the end');
  expect((await answer).body).toBe('to the end');
  await stopped;
  expect(talker.destroyed || (await once(talker, 'close'))).toBeTruthy();
  expect(performance.now() - begun).toBeLessThan(2 * DRAIN_MS);
});

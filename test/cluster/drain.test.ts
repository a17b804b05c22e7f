// A node that stops, and the requests that other nodes have sent to it.

import { Agent } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';
import { agentAt, serve, service, startCluster } from './support.ts';

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

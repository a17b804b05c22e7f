// A stop while the PostgreSQL server is away: visitors are served to the end, and it comes to its end. That a process exits with 0 then,
// and at SIGTERM begins to stop, test/ops/start.test.ts has.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newClient, PATIENT, type TestClient } from '../../agent/client/support.ts';
import { serve, service } from '../../cluster/support.ts';
import { eventually } from '../../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { onServer, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';
import { shortened } from '../../support/shortened.ts';
import { visit } from '../../support/visit.ts';

describe.runIf(onServer)('a stop', () => {
  let place: Place;
  let proxy: FaultProxy;
  let gateway: TestGateway;
  let agent: TestClient;
  beforeEach(async () => {
    place = await newPlace();
    const url = new URL(place.env.DATABASE_URL ?? '');
    proxy = await startFaultProxy(url.hostname, Number(url.port || 5432));
    url.host = `127.0.0.1:${proxy.port}`;
    gateway = await startTestGateway({ DATABASE_URL: url.href, DRAIN_MS: '20000' }, { place });
    const [host = '', port] = gateway.agent.split(':');
    const { authtoken = '' } = gateway.first ?? {};
    agent = newClient({ host, port: Number(port), ca: gateway.ca }, { authtoken }, PATIENT);
  });
  afterEach(async () => {
    await agent?.client.close();
    await gateway?.close();
    await proxy?.close();
    await place?.remove();
  });

  const ways: [string, () => unknown][] = [
    [
      'refused',
      () => {
        proxy.refuse();
        return proxy.cut();
      },
    ],
    ['in a black hole', () => proxy.shape({ outage: 'black hole' })],
  ];
  test.for(shortened(ways))(
    'with the database %s ends by itself, after the visitor’s answer',
    { timeout: 45_000 }, // A process gives a stop up 30 s after the drain.
    async ([, lose]) => {
      let answer: (() => void) | undefined;
      const port = await service((_, response) => {
        response.write('begun, ');
        answer = () => response.end('ended');
      });
      const visited = visit(await serve(agent, port), gateway.http);
      await eventually(() => expect(answer).toBeDefined());
      await lose();
      let isClosed = false;
      const closed = gateway.close().then(() => {
        isClosed = true;
      });
      await eventually(async () => {
        expect(await (await fetch(`${gateway.admin}/readyz`)).text()).toBe('The gateway is stopping.\n');
      });
      expect(isClosed).toBe(false);
      answer?.();
      expect(await visited).toMatchObject({ status: 200, body: 'begun, ended' });
      await closed;
    },
  );
});

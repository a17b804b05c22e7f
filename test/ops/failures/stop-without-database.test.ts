// SIGTERM while the PostgreSQL server is away: visitors are served to the end, and the process ends by itself.

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AgentProcess, startAgent } from '../../support/agents/agent.ts';
import { eventually } from '../../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { newPlace, onServer, type Place } from '../../support/gateway/place.ts';
import { type GatewayProcess, startProcess } from '../../support/gateway/process.ts';
import { shortened } from '../../support/shortened.ts';
import { visit } from '../../support/visit.ts';

describe.runIf(onServer)('SIGTERM', () => {
  let place: Place;
  let proxy: FaultProxy;
  let gateway: GatewayProcess;
  let agent: AgentProcess;
  /** The answer of the visitor’s request, which the test ends. */
  let answering: ServerResponse | undefined;
  const origin = createServer((_, response) => {
    answering = response;
    response.write('begun, ');
  });
  beforeEach(async () => {
    answering = undefined;
    place = await newPlace();
    const url = new URL(place.env.DATABASE_URL ?? '');
    proxy = await startFaultProxy(url.hostname, Number(url.port || 5432));
    url.host = `127.0.0.1:${proxy.port}`;
    gateway = await startProcess({ DATABASE_URL: url.href, DRAIN_MS: '20000' }, place);
    await once(origin.listen(0, '127.0.0.1'), 'listening');
    agent = await startAgent({
      authtoken: gateway.authtoken ?? '',
      gateway: gateway.agent,
      caFile: join(place.dataDir, 'ca.pem'),
      args: ['http', String((origin.address() as { port: number }).port)],
    });
  }, 60_000);
  afterEach(async () => {
    await agent?.remove();
    await gateway?.kill();
    await proxy?.close();
    await place?.remove();
    origin.closeAllConnections();
    await once(origin.close(), 'close');
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
    'with the database %s ends with exit code 0, after the visitor’s answer',
    { timeout: 60_000 },
    async ([, lose]) => {
      const [url] = await agent.printed(/http:\S+/);
      const visited = visit(url, gateway.http);
      await eventually(() => expect(answering).toBeDefined());
      await lose();
      process.kill(gateway.pid, 'SIGTERM');
      await eventually(async () => {
        expect(await (await fetch(`${gateway.admin}/readyz`)).text()).toBe('The gateway is stopping.\n');
      });
      answering?.end('ended');
      expect(await visited).toMatchObject({ status: 200, body: 'begun, ended' });
      // A gateway that hangs is ended by the hard deadline, 30 s after that of the drain.
      expect(await gateway.exited).toBe(0);
      expect(gateway.stderr.join('\n')).not.toContain('stopping took too long');
    },
  );
});

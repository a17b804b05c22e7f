// A gateway that is stopped with traffic events in memory stores them first: they are delivered after its next start.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { httpName, sdkSession } from '../../support/agents/sdk.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestGateway } from '../../support/gateway/gateway.ts';
import { newPlace } from '../../support/gateway/place.ts';
import { visit } from '../../support/visit.ts';
import { done, newName } from '../edges/support.ts';
import { CONNECTIONS, metricOf, REQUESTS, type Received, startEcho, startTrafficUpstream } from './lab.ts';

const VISITS = 40;

test('what was in memory, what was being answered, and connections that were open: each is told of once', {
  timeout: 60_000,
}, async () => {
  const place = await newPlace();
  onTestFinished(() => place.remove());
  const files = join(place.dataDir, 'events');
  await mkdir(files);
  const env = { SERVER_KEY: randomBytes(32).toString('base64'), DRAIN_MS: '50', EVENT_FILE_DIR: files };
  const [upstream, echo] = [await startTrafficUpstream(), await startEcho()];
  onTestFinished(() => {
    upstream.close();
    echo.close();
  });
  const first = await startTestGateway(env, { place });
  const file = { name: 'traffic.log' };
  const { id } = await done(first, 'POST', '/event_destinations', { format: 'json', target: { file } });
  const sources = [
    { type: REQUESTS, fields: ['http'] },
    { type: CONNECTIONS, fields: ['conn'] },
  ];
  await done(first, 'POST', '/event_subscriptions', { sources, destination_ids: [id] });
  const session = await sdkSession(first, (await newCredential(first)).authtoken);
  const name = newName('stopped');
  await httpName(session, name).listenAndForward(upstream.url);
  const tcp = await session.tcpEndpoint().listenAndForward(echo.url);

  const socket = connect(Number(new URL(String(tcp.url())).port), '127.0.0.1').on('error', () => {});
  socket.write('hello');
  await once(socket, 'data');
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const arrived = upstream.arrives('/silent');
  const silent = visit(`http://${name}/silent`, first.http).catch(() => undefined);
  await arrived;
  for (let n = 0; n < VISITS; n++) await visit(`http://${name}/${n}`, first.http, { agent });
  expect(await metricOf(first, 'traffic_events_waiting')).toBeGreaterThan(0);
  await first.close();
  await silent;

  const second = await startTestGateway(env, { place });
  onTestFinished(() => second.close());
  const read = async (): Promise<Received[]> => {
    const text = await readFile(join(files, second.accountId, file.name), 'utf8').catch(() => '');
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  };
  await eventually(async () => expect((await read()).length).toBeGreaterThanOrEqual(VISITS + 2), {
    timeout: 10_000,
    interval: 20,
  });
  const events = await read();
  const paths = events
    .filter(({ event_type }) => event_type === REQUESTS)
    .map(({ object }) => object.http.request.url.path);
  expect(paths).toEqual([...Array.from({ length: VISITS }, (_, n) => `/${n}`), '/silent']);
  const connections = events.filter(({ event_type }) => event_type === CONNECTIONS);
  expect(connections.map(({ object }) => object.conn)).toMatchObject([{ bytes_in: 5, bytes_out: 5 }]);
  const delivery = await done(second, 'GET', `/event_destinations/${id}/delivery`);
  expect(delivery).toMatchObject({ state: 'ok', waiting_events: 0, dropped_events: 0 });
});

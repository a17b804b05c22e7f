// What is left of a capture when the gateway has been started anew on the same data: that it is on, and until when.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../edge/sockets.ts';
import { newCredential } from '../../support/agents/live.ts';
import { httpName, type SdkSession, sdkSession } from '../../support/agents/sdk.ts';
import { answerOf } from '../../support/gateway/answer.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';
import { type GatewayProcess, startProcess } from '../../support/gateway/process.ts';
import { isLong } from '../../support/shortened.ts';
import { visit } from '../../support/visit.ts';

const NAME = 'kept.tunnel.localhost';
const SHORT = 'short.tunnel.localhost';
const LOOK = `query ($id: ID!) { trafficCapture(endpointId: $id) {
  running { id } state isOn bodyBytes redactedHeaders kept passed startedAt startedBy recordedSince endsAt } }`;
const LIST = 'query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { path responseBody { text } } } }';

const service = createServer((request, response) => void response.end(request.url));
const upstream = listen(service);
afterAll(() => service.close());

/** A gateway of this process, or a process of its own. */
type Asked = Pick<TestGateway, 'graphql'> | Pick<GatewayProcess, 'call'>;

async function ask(gateway: Asked, query: string, variables: object = {}) {
  const asked =
    'graphql' in gateway
      ? await gateway.graphql(query, variables)
      : await gateway.call('POST', '/graphql', { query, variables });
  if (asked.body.errors) throw new Error(asked.body.errors[0].message);
  return answerOf(query, asked.body.data);
}

/** Serves the name, in a session that ends with the test. @returns the id of the endpoint. */
async function serveAt(gateway: Asked & Pick<TestGateway, 'ca'>, agent: string, authtoken: string) {
  const session = await sdkSession({ agent, ca: gateway.ca }, authtoken);
  return { session, id: await serve(gateway, session, NAME) };
}

/** @returns the id of the endpoint. */
async function serve(gateway: Asked, session: SdkSession, name: string): Promise<string> {
  await httpName(session, name).listenAndForward(`http://127.0.0.1:${await upstream}`);
  const { nodes } = await ask(gateway, '{ endpoints { nodes { id hostport } } }');
  return nodes.find(({ hostport }: { hostport: string }) => hostport.startsWith(name)).id;
}

const start = (gateway: Asked, id: string, minutes: number) =>
  ask(
    gateway,
    `mutation ($id: ID!, $minutes: Int!) { startTrafficCapture(endpointId: $id,
       input: { bodyBytes: 100, redactHeaders: ["x-own"], minutes: $minutes }) { trafficCapture { running { id } endsAt startedAt } } }`,
    { id, minutes },
  );

async function startAt(place: Place, now: () => number): Promise<TestGateway> {
  const gateway = await startTestGateway({}, { place, now });
  onTestFinished(() => gateway.close());
  return gateway;
}

test('it goes on with its settings and its end; what was captured before is gone, and the API says since when it is not; one whose time was over meanwhile is off', async () => {
  const place = await newPlace();
  onTestFinished(() => place.remove());
  let time = Date.now();
  const gateway = await startAt(place, () => time);
  const { authtoken } = await newCredential(gateway);
  const { session, id } = await serveAt(gateway, gateway.agent, authtoken);
  const short = await serve(gateway, session, SHORT);
  const started = await start(gateway, id, 10);
  await start(gateway, short, 2);
  await visit(`http://${NAME}/before`, gateway.http);
  expect((await ask(gateway, LIST, { id })).nodes).toEqual([{ path: '/before', responseBody: { text: '/before' } }]);
  await session.close();
  await gateway.close();

  time += 120_000;
  const again = await startAt(place, () => time);
  const back = await serveAt(again, again.agent, authtoken);
  const shown = await ask(again, LOOK, back);
  expect(shown).toMatchObject({
    ...{ ...started, startedBy: gateway.ownerId },
    ...{ state: 'RECORDING', isOn: true, bodyBytes: 100, kept: 0, passed: 0 },
    redactedHeaders: expect.arrayContaining(['cookie', 'x-own']),
  });
  expect(Date.parse(shown.recordedSince)).toBe(time);
  await visit(`http://${NAME}/after`, again.http);
  expect((await ask(again, LIST, back)).nodes).toEqual([{ path: '/after', responseBody: { text: '/after' } }]);

  const over = { id: await serve(again, back.session, SHORT) };
  expect(await ask(again, LOOK, over)).toMatchObject({ running: null, state: 'OFF', isOn: false, endsAt: null });
  expect(await ask(again, '{ runningCaptures { nodes { id } } }')).toEqual({ nodes: [shown.running] });
  await visit(`http://${SHORT}/late`, again.http);
  expect((await ask(again, LIST, over)).nodes).toEqual([]);
});

// What is stored is asked after a restart above; that a database outlives its gateway is shown elsewhere, too.
test.runIf(isLong)('it goes on after a kill -9 of the gateway', { timeout: 120_000 }, async () => {
  const gateway: GatewayProcess = await startProcess();
  onTestFinished(() => gateway.place.remove());
  onTestFinished(async () => void (await gateway.kill()));
  const ca = await readFile(join(gateway.place.dataDir, 'ca.pem'), 'utf8');
  const authtoken = gateway.authtoken ?? '';
  const { id } = await serveAt({ ...gateway, ca }, gateway.agent, authtoken);
  const started = await start(gateway, id, 10);
  await visit(`http://${NAME}/before`, gateway.http);
  await gateway.kill('SIGKILL');

  const again = await gateway.restart();
  onTestFinished(async () => void (await again.kill()));
  const [running] = (await ask(again, '{ runningCaptures { nodes { id state startedAt endsAt } } }')).nodes;
  expect(running).toMatchObject({
    id: started.running.id,
    startedAt: started.startedAt,
    endsAt: started.endsAt,
    state: expect.stringMatching(/WAITING|RECORDING/),
  });
  const back = await serveAt({ ...again, ca }, again.agent, authtoken);
  await visit(`http://${NAME}/after`, again.http);
  expect((await ask(again, LIST, back)).nodes).toEqual([{ path: '/after', responseBody: { text: '/after' } }]);
});

// The policy that the agent gives to tunnels that are made without one, as a device runs it: a process of its own.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newDirectory, startService } from '../../agent/agents.ts';
import { newCredential } from '../../support/agents/live.ts';
import { listen } from '../../support/events/traffic.ts';
import { sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { visit } from '../../support/visit.ts';

let gateway: TestGateway;
let environment: Record<string, string>;
const directory = newDirectory();
const policyFile = join(directory.path, 'policy.json');
beforeAll(async () => {
  gateway = await sharedGateway();
  const { authtoken } = await newCredential(await gateway.newAccount());
  writeFileSync(join(directory.path, 'ca.pem'), gateway.ca);
  environment = {
    TUNNEL_AUTHTOKEN: authtoken,
    GATEWAY_ADDR: gateway.agent,
    GATEWAY_CA: join(directory.path, 'ca.pem'),
  };
});
afterAll(() => directory.remove());

async function agent(env: Record<string, string> = {}) {
  const place = newDirectory();
  const started = await startService(place.path, { ...environment, ...env });
  onTestFinished(async () => {
    await started.kill('SIGKILL');
    place.remove();
  });
  return started;
}

type Started = Awaited<ReturnType<typeof agent>>;

/** What visitors of a new tunnel get. */
async function visited({ ask }: Started, wanted: object = {}) {
  const service = createServer((_, response) => response.end('hello'));
  const forwards_to = (await listen(service)).replace('http://', '');
  const { status, body, text } = await ask('POST', '/tunnels', { protocol: 'http', forwards_to, ...wanted });
  expect(status, text).toBe(200);
  return visit(body.url, body.url.startsWith('https') ? gateway.https : gateway.http, { ca: gateway.ca });
}

test('a tunnel that is made without a policy adds the header of the one that comes with the agent', async () => {
  const started = await agent();
  for (const protocol of ['http', 'https'])
    expect(await visited(started, { protocol })).toMatchObject({
      status: 200,
      body: 'hello',
      headers: { 'is-tunnel': '0000000000' },
    });
});

test('a tunnel with a policy of its own has that alone', async () => {
  const policy = { outbound: [{ actions: [{ type: 'add-headers', config: { headers: { 'x-own': 'yes' } } }] }] };
  const { headers } = await visited(await agent(), { policy });
  expect(headers).toMatchObject({ 'x-own': 'yes' });
  expect(headers).not.toHaveProperty('is-tunnel');
});

test('a default of one’s own is read anew for each tunnel', async () => {
  const adds = (value: string) =>
    writeFileSync(
      policyFile,
      JSON.stringify({
        on_http_response: [{ actions: [{ type: 'add-headers', config: { headers: { 'x-mine': value } } }] }],
      }),
    );
  adds('first');
  const started = await agent({ AGENT_POLICY_FILE: policyFile });
  expect((await visited(started)).headers).toMatchObject({ 'x-mine': 'first' });
  adds('second');
  expect((await visited(started)).headers).toMatchObject({ 'x-mine': 'second' });
});

// Between the start of the process and readiness: whoever waits for it finds everything, and whoever does not waits.

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newPlace, type Place } from '../../support/gateway/place.ts';
import { type GatewayProcess, startProcess } from '../../support/gateway/process.ts';
import { visit } from '../../support/visit.ts';

const KEY = 'key-of-the-readiness-tests';
const LISTENERS = ['API_PORT', 'ADMIN_PORT', 'AGENT_PORT', 'HTTP_PORT', 'HTTPS_PORT'] as const;

let place: Place;
let starting: Promise<GatewayProcess>;
let ports: Record<(typeof LISTENERS)[number], number>;
beforeEach(async () => {
  place = await newPlace();
  ports = await freePorts();
  const env = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)]));
  starting = startProcess({ ...env, INITIAL_API_KEY: KEY }, place);
  starting.catch(() => {}); // The test that waits for it fails.
});
afterEach(async () => {
  await (await starting).kill();
  await place.remove();
});

/** Ports that nobody has now; known before the process starts. */
async function freePorts() {
  const servers = LISTENERS.map(() => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const numbers = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return Object.fromEntries(LISTENERS.map((name, i) => [name, numbers[i]])) as typeof ports;
}

/** The first answer that comes, after as many refused connections as it takes. */
async function first(url: string, options: RequestInit = {}): Promise<Response> {
  for (;;) {
    const answer = await fetch(url, options).catch(() => null);
    if (answer) return answer;
    await turn();
  }
}

const askDataPlane = () =>
  first(`http://127.0.0.1:${ports.API_PORT}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ gatewayInfo { agentAddress } }' }),
  });

test('at the first 200 of /readyz visitors, agents and API clients are served', { timeout: 60_000 }, async () => {
  const readyz = `http://127.0.0.1:${ports.ADMIN_PORT}/readyz`;
  const reasons = new Set<string>();
  for (let answer = await first(readyz); answer.status !== 200; answer = await first(readyz))
    reasons.add(await answer.text());
  const [visited, dialled, asked] = await Promise.all([
    visit('http://nobody.tunnel.localhost', `127.0.0.1:${ports.HTTP_PORT}`),
    once(connect(ports.AGENT_PORT, '127.0.0.1'), 'connect').then(() => true),
    askDataPlane(),
  ]);
  expect([visited.status, dialled, asked.status]).toEqual([404, true, 200]);
  expect([...reasons].filter((reason) => reason !== 'The gateway is starting.\n')).toEqual([]);
});

test('an API request that comes too early waits, and is answered', { timeout: 60_000 }, async () => {
  const answer = await askDataPlane();
  expect(await answer.json()).toEqual({
    data: { gatewayInfo: { agentAddress: expect.stringContaining(String(ports.AGENT_PORT)) } },
  });
});

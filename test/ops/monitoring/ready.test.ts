// Between the start and readiness: whoever waits for it finds everything, and whoever does not waits.

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startTestGateway } from '../../support/gateway/gateway.ts';
import { visit } from '../../support/visit.ts';

const KEY = 'key-of-the-readiness-tests';
/** Between two tries; milliseconds. */
const LOOK_MS = 2;
const LISTENERS = ['API_PORT', 'ADMIN_PORT', 'AGENT_PORT', 'HTTP_PORT', 'HTTPS_PORT'] as const;

/** Ports that nobody has now; known before the process starts. */
async function freePorts(): Promise<Record<(typeof LISTENERS)[number], number>> {
  const servers = LISTENERS.map(() => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const numbers = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return Object.fromEntries(LISTENERS.map((name, i) => [name, numbers[i]])) as Record<
    (typeof LISTENERS)[number],
    number
  >;
}

/** The first answer that comes, after as many refused connections as it takes. */
async function first(url: string, options: RequestInit = {}): Promise<Response> {
  for (;;) {
    const answer = await fetch(url, options).catch(() => null);
    if (answer) return answer;
    await pause(LOOK_MS);
  }
}

test('at the first 200 of /readyz visitors, agents and API clients are served; an API request that comes earlier waits, and is answered', {
  timeout: 60_000,
}, async () => {
  const ports = await freePorts();
  const env = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)]));
  const starting = startTestGateway({ ...env, INITIAL_API_KEY: KEY });
  starting.catch(() => {}); // It fails below.
  onTestFinished(async () => (await starting).close());
  const askDataPlane = () =>
    first(`http://127.0.0.1:${ports.API_PORT}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ gatewayInfo { agentAddress } }' }),
    });
  const early = askDataPlane();

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
  expect(await (await early).json()).toEqual({
    data: { gatewayInfo: { agentAddress: expect.stringContaining(String(ports.AGENT_PORT)) } },
  });
  await starting;
});

// The connections behind our agent serve one visitor after the other; those behind an SDK are of one visitor each.

import type { Socket } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { agentAt, serve, service } from '../cluster/support.ts';
import { newCredential } from '../support/agents/live.ts';
import { httpName, openSdkSession } from '../support/agents/sdk.ts';
import { eventually } from '../support/eventually.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

const VISITORS = 5;
let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

/** A service that counts who connects to it. */
async function counting() {
  const sockets = new Set<Socket>();
  const port = await service((request, response) => {
    sockets.add(request.socket);
    response.end(`${request.url} for ${request.headers['x-forwarded-for']}`);
  });
  return { port, sockets };
}

/** Visitors one after the other, each with a connection of its own. */
async function visitors(url: string, address: string): Promise<void> {
  for (let i = 0; i < VISITORS; i++) {
    const answer = await visit(`${url}/${i}`, address, { ca: gateway.ca, headers: { connection: 'close' } });
    expect(answer.body).toBe(`/${i} for 127.0.0.1`);
  }
}

test.each(['http', 'https'] as const)('visitors of %s share a connection behind our agent', async (protocol) => {
  const { port, sockets } = await counting();
  const url = await serve(await agentAt(gateway, account), port, { protocol });
  // A connection waits a second for the next visitor, who may be later on a busy machine.
  await eventually(async () => {
    sockets.clear();
    await visitors(url, gateway[protocol]);
    expect(sockets.size).toBe(1);
  });
});

test('an agent’s tunnel that is closed leaves no connection behind', async () => {
  const { port, sockets } = await counting();
  const agent = await agentAt(gateway, account);
  await visitors(await serve(agent, port), gateway.http);
  await agent.client.close();
  await eventually(() => expect([...sockets].filter(({ destroyed }) => !destroyed)).toEqual([]));
});

test('each visitor has a connection behind an SDK, whose program sees whom it is of', async () => {
  const { port, sockets } = await counting();
  const { authtoken } = await newCredential(account);
  const sdk = await openSdkSession(gateway, authtoken);
  const name = 'unshared.tunnel.localhost';
  // By http:// the SDK would keep connections of its own.
  await httpName(sdk.session, name).listenAndForward(`tcp://127.0.0.1:${port}`);
  await visitors(`http://${name}`, gateway.http);
  expect(sockets.size).toBe(VISITORS);
  await sdk.close();
});

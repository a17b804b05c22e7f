// The IP restriction for the visitors of all endpoints of an account: tunnels, edges and cloud endpoints.

import { connect, createServer } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../edge/sockets.ts';
import { newCredential, reserve, type TestCredential } from '../../support/agents/live.ts';
import { httpName, type SdkSession, sdkSession } from '../../support/agents/sdk.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { visit } from '../../support/visit.ts';
import {
  done,
  errorOf,
  http2Visitor,
  labelled,
  newEdge,
  newName,
  sayOverTls,
  startShowing,
  visitEdge,
} from '../edges/support.ts';
import { addRule, ELSEWHERE, HERE, NOWHERE, restrict } from './support.ts';

const REFUSED = [403, 3205];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await sharedGateway();
});

interface Serving {
  account: Account;
  credential: TestCredential;
  agent: SdkSession;
}

/** An account of its own, as it has one restriction, with an agent. */
async function serving(): Promise<Serving> {
  const account = await gateway.newAccount();
  const credential = await newCredential(account);
  return { account, credential, agent: await sdkSession(gateway, credential.authtoken) };
}

async function startEcho(): Promise<string> {
  const server = createServer((socket) => void socket.on('error', () => {}).pipe(socket));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${await listen(server)}`;
}

/** What comes back of what is said at a port; '' when the connection is closed without an answer. */
function echoOf(port: number, localAddress: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  onTestFinished(() => void socket.destroy());
  return new Promise((resolve) => {
    socket.on('data', (data) => resolve(String(data))).on('error', () => {});
    socket.on('close', () => resolve('')).write('hello');
  });
}

const answer = (body: string) => ({
  on_http_request: [{ actions: [{ type: 'custom-response', config: { status_code: 200, body } }] }],
});

describe('endpoints of all kinds refuse visitors from elsewhere as the module of a route does:', () => {
  test('tunnels of http, before the policy of the agent', async () => {
    const { account, agent } = await serving();
    const name = newName('restricted');
    const policy = JSON.stringify(answer('in'));
    await httpName(agent, name).trafficPolicy(policy).listen();
    const seen = async () => {
      const { status, headers } = await visit(`http://${name}/`, gateway.http);
      return [status, errorOf({ headers })];
    };
    expect(await seen()).toEqual([200, undefined]);
    const { policyId, at } = await restrict(account, 'endpoints', [NOWHERE]);
    expect(await seen()).toEqual(REFUSED);
    const rule = await addRule(account, policyId, `${HERE}/32`);
    expect(await seen()).toEqual([200, undefined]);
    await done(account, 'DELETE', rule);
    expect(await seen()).toEqual(REFUSED);
    await done(account, 'DELETE', at);
    expect(await seen()).toEqual([200, undefined]);
  });

  test('HTTPS edges and cloud endpoints, over HTTP/2 too', async () => {
    const { account, agent } = await serving();
    const labels = { app: newName('restricted') };
    await labelled(agent, labels, (await startShowing('edge')).url);
    const edge = await newEdge(account, { labels });
    const cloud = { name: newName('cloud') };
    await reserve(account, cloud.name);
    const body = { url: `https://${cloud.name}`, traffic_policy: JSON.stringify(answer('in')) };
    await done(account, 'POST', '/cloud_endpoints', body);
    const { policyId } = await restrict(account, 'endpoints', [`${HERE}/32`]);
    for (const { name } of [edge, cloud]) {
      expect((await visitEdge(gateway, { name })).status).toBe(200);
      const visited = await visitEdge(gateway, { name }, '/', { from: ELSEWHERE });
      expect([visited.status, errorOf(visited)]).toEqual(REFUSED);
      const over2 = await http2Visitor(gateway, { name });
      expect((await over2()).status).toBe(200);
      const rule = await addRule(account, policyId, '127.0.0.0/8', 'deny');
      expect((await over2()).status).toBe(403);
      await done(account, 'DELETE', rule);
    }
  });

  test('tunnels whose policy has rules for connections, which never run then', async () => {
    const { account, agent } = await serving();
    const name = newName('restricted');
    const policy = { on_tcp_connect: [{ actions: [{ type: 'close-connection' }] }] };
    await agent.httpEndpoint().domain(name).trafficPolicy(JSON.stringify(policy)).listen();
    await restrict(account, 'endpoints', [`${HERE}/32`]);
    await expect(visitEdge(gateway, { name })).rejects.toThrow();
    const visited = await visitEdge(gateway, { name }, '/', { from: ELSEWHERE });
    expect([visited.status, errorOf(visited)]).toEqual(REFUSED);
  });

  test('TLS edges and TCP tunnels close the connection', async () => {
    const { account, agent } = await serving();
    const labels = { app: newName('restricted') };
    await labelled(agent, labels, `tcp://${await startEcho()}`);
    const edge = await newEdge(account, {
      kind: 'tls',
      labels,
      modules: { tls_termination: { terminate_at: 'edge' } },
    });
    await restrict(account, 'endpoints', [`${HERE}/32`]);
    expect(await sayOverTls(gateway, edge)).toMatch(/^hello over/);
    expect(await sayOverTls(gateway, edge, ELSEWHERE)).toMatch(/^closed/);
    const tunnel = await agent.tcpEndpoint().listenAndForward(`tcp://${await startEcho()}`);
    const port = Number(new URL(tunnel.url() ?? '').port);
    // Another node listens a moment later.
    await expect.poll(() => echoOf(port, HERE)).toBe('hello');
    expect(await echoOf(port, ELSEWHERE)).toBe('');
  });
});

test('one that is not enforced refuses nobody, and the log says whom it would', async () => {
  const { account, agent } = await serving();
  const name = newName('observed');
  await httpName(agent, name)
    .trafficPolicy(JSON.stringify(answer('in')))
    .listen();
  const { at } = await restrict(account, 'endpoints', [NOWHERE], { enforced: false });
  expect((await visit(`http://${name}/`, gateway.http)).status).toBe(200);
  await gateway.logged(
    ({ accountId, type, ip }) => accountId === account.accountId && type === 'endpoints' && ip === HERE,
  );
  await done(account, 'PATCH', at, { enforced: true });
  expect((await visit(`http://${name}/`, gateway.http)).status).toBe(403);
});

test('another account is not concerned', async () => {
  const [one, other] = [await serving(), await serving()];
  const name = newName('neighbour');
  await httpName(other.agent, name)
    .trafficPolicy(JSON.stringify(answer('in')))
    .listen();
  await restrict(one.account, 'endpoints', [NOWHERE]);
  expect((await visit(`http://${name}/`, gateway.http)).status).toBe(200);
});

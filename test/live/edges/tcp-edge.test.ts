// Reserved TCP addresses, and the TCP edges and tunnels that serve them.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../edge/sockets.ts';
import { newCredential, type TestCredential } from '../../support/agents/live.ts';
import { type SdkSession, sdkSession } from '../../support/agents/sdk.ts';

import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { backendOf, done, labelled, newName } from './support.ts';

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  credential = await newCredential(account);
});

interface Address {
  id: string;
  addr: string;
  port: number;
}

async function reserveAddress(owner: Account = account, body: object = {}): Promise<Address> {
  const { id, addr } = await done(owner, 'POST', '/reserved_addrs', body);
  return { id, addr, port: Number(addr.slice(addr.indexOf(':') + 1)) };
}

/** An upstream that says its name before it gives back what it gets. @returns its URL. */
async function startEcho(name: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).write(name);
    socket.pipe(socket);
  });
  onTestFinished(() => void server.close());
  return `tcp://127.0.0.1:${await listen(server)}`;
}

/** What the upstream behind a port says first; the code of the error, or 'closed', when nothing came. */
async function greeting(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const outcome = await new Promise<string>((resolve) => {
    socket
      .on('data', (data) => resolve(String(data)))
      .on('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''))
      .on('close', () => resolve('closed'));
  });
  socket.destroy();
  return outcome;
}

/** A TCP edge on a new address, with an echo behind it. */
async function newTcpEdge(agent: SdkSession, modules: object = {}) {
  const labels = { app: newName('tcp') };
  await labelled(agent, labels, await startEcho('edge'));
  const address = await reserveAddress();
  const backend = await backendOf(account, labels);
  const body = { hostports: [address.addr], backend, ...modules };
  const { id } = await done(account, 'POST', '/edges/tcp', body);
  return { address, id, at: `/edges/tcp/${id}` };
}

const session = () => sdkSession(gateway, credential.authtoken);
const tunnelTo = async (agent: SdkSession, addr: string, url: string) =>
  agent.tcpEndpoint().remoteAddr(addr).listenAndForward(url);

describe('a reserved address', () => {
  test('is a port that its account’s agents get, and shown at the endpoint', async () => {
    const { id, addr, port } = await reserveAddress();
    await tunnelTo(await session(), addr, await startEcho('device'));
    // Another node listens a moment later.
    await expect.poll(() => greeting(port)).toBe('device');
    const { endpoints } = await done(account, 'GET', '/endpoints');
    const [endpoint] = endpoints.filter((one: { hostport: string }) => one.hostport === addr);
    expect(endpoint).toMatchObject({ proto: 'tcp', public_url: `tcp://${addr}`, tcp_addr: { id } });
  });

  test('is refused to the agents of others, by name and by chance', async () => {
    const { addr } = await reserveAddress();
    const stranger = await newCredential(await gateway.newAccount());
    const agent = await sdkSession(gateway, stranger.authtoken);
    await expect(tunnelTo(agent, addr, 'tcp://127.0.0.1:1')).rejects.toThrow(/reserved by another account/);
    const url = (await agent.tcpEndpoint().listenAndForward('tcp://127.0.0.1:1')).url();
    expect(url).not.toBe(`tcp://${addr}`);
  });

  test('can be one that is wanted, unless somebody has it', async () => {
    const other = await gateway.newAccount();
    const { id, port } = await reserveAddress();
    const again = await other.call('POST', '/reserved_addrs', { port });
    expect(again).toMatchObject({ status: 409, body: { error_code: expect.stringMatching(/_90324$/) } });
    await done(account, 'DELETE', `/reserved_addrs/${id}`);
    expect((await reserveAddress(other, { port })).port).toBe(port);
    for (const wrong of [0, 80, 65_536])
      expect((await other.call('POST', '/reserved_addrs', { port: wrong })).status).toBe(400);
  });

  test('is not given while another account’s agent serves it, and may be while the own does', async () => {
    const agent = await session();
    const url = (await agent.tcpEndpoint().listenAndForward(await startEcho('first'))).url() ?? '';
    const port = Number(url.slice(url.lastIndexOf(':') + 1));
    const stranger = await (await gateway.newAccount()).call('POST', '/reserved_addrs', { port });
    // A port that the operating system has chosen may lie outside of what can be reserved.
    if (stranger.status === 400) return;
    expect(stranger.status).toBe(409);
    expect((await reserveAddress(account, { port })).port).toBe(port);
  });

  test('goes to one of fifty who ask for it at once', async () => {
    const { id, port } = await reserveAddress();
    await done(account, 'DELETE', `/reserved_addrs/${id}`);
    const asked = await Promise.all(
      Array.from({ length: 50 }, () => account.call('POST', '/reserved_addrs', { port })),
    );
    const statuses = asked.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(49);
  });
});

describe('a TCP edge', () => {
  test('sends bytes both ways, end by end, and shows its endpoint', async () => {
    const { address, id } = await newTcpEdge(await session());
    const socket = connect(address.port, '127.0.0.1');
    const received: Buffer[] = [];
    socket.on('data', (chunk) => received.push(chunk));
    socket.end(Buffer.alloc(300_000, 'x'));
    await once(socket, 'close');
    expect(Buffer.concat(received).toString()).toBe(`edge${'x'.repeat(300_000)}`);
    const { endpoints } = await done(account, 'GET', '/endpoints');
    expect(endpoints.find((one: { hostport: string }) => one.hostport === address.addr)).toMatchObject({
      ...{ type: 'edge', proto: 'tcp', public_url: `tcp://${address.addr}` },
      ...{ tcp_addr: { id: address.id }, domain: null, edge: { id, uri: expect.stringContaining('/edges/tcp/') } },
    });
  });

  test('acts by its modules, from the next connection on', async () => {
    const { address, at } = await newTcpEdge(await session());
    const policy = await done(account, 'POST', '/ip_policies', {});
    const rule = { ip_policy_id: policy.id, cidr: '127.0.0.0/8', action: 'deny' };
    const { id: denied } = await done(account, 'POST', '/ip_policy_rules', rule);
    await done(account, 'PUT', `${at}/ip_restriction`, { ip_policy_ids: [policy.id] });
    expect(['ECONNRESET', 'closed']).toContain(await greeting(address.port));
    await done(account, 'DELETE', `/ip_policy_rules/${denied}`);
    await done(account, 'POST', '/ip_policy_rules', { ...rule, action: 'allow' });
    expect(await greeting(address.port)).toBe('edge');
    const deny = { on_tcp_connect: [{ actions: [{ type: 'deny' }] }] };
    await done(account, 'PUT', `${at}/traffic_policy`, { value: JSON.stringify(deny) });
    expect(['ECONNRESET', 'closed']).toContain(await greeting(address.port));
    await done(account, 'DELETE', `${at}/traffic_policy`);
    expect(await greeting(address.port)).toBe('edge');
  });

  test.each([
    ['a phase of requests', { on_http_request: [{ actions: [{ type: 'deny' }] }] }],
    ['an action on TLS', { on_tcp_connect: [{ actions: [{ type: 'terminate-tls', config: {} }] }] }],
  ])('refuses a policy with %s', async (_, value) => {
    const { id } = await done(account, 'POST', '/edges/tcp', {});
    const { status } = await account.call('PUT', `/edges/tcp/${id}/traffic_policy`, { value: JSON.stringify(value) });
    expect(status).toBe(400);
  });

  test('closes its port when it is deleted, and the address with it stays the account’s', async () => {
    const { address, at } = await newTcpEdge(await session());
    expect((await account.call('DELETE', `/reserved_addrs/${address.id}`)).body).toMatchObject({
      error_code: expect.stringMatching(/_90325$/),
    });
    await done(account, 'DELETE', at);
    expect(await greeting(address.port)).toBe('ECONNREFUSED');
    await done(account, 'DELETE', `/reserved_addrs/${address.id}`);
  });

  test('and an agent never have an address at once', async () => {
    const agent = await session();
    const { address } = await newTcpEdge(agent);
    await expect(tunnelTo(agent, address.addr, 'tcp://127.0.0.1:1')).rejects.toThrow(/belongs to an edge/);
    const served = await reserveAddress();
    await tunnelTo(agent, served.addr, await startEcho('device'));
    const edge = await account.call('POST', '/edges/tcp', { hostports: [served.addr] });
    expect(edge).toMatchObject({ status: 409, body: { error_code: expect.stringMatching(/_7132$/) } });
    await expect.poll(() => greeting(served.port)).toBe('device');
  });

  test('has only addresses that the account has reserved, each once', async () => {
    const { addr } = await reserveAddress(await gateway.newAccount());
    const own = await reserveAddress();
    for (const [hostports, number] of [
      [[addr], 7114],
      [['tunnel.localhost:443'], 7114],
      [[own.addr, own.addr], 90_050],
    ] as const) {
      const { body } = await account.call('POST', '/edges/tcp', { hostports });
      expect(body.error_code).toMatch(new RegExp(`_${number}$`));
    }
  });

  test('moves to another address without a connection lost', async () => {
    const { address, at } = await newTcpEdge(await session());
    const socket: Socket = connect(address.port, '127.0.0.1');
    await once(socket, 'data');
    const next = await reserveAddress();
    await done(account, 'PATCH', at, { hostports: [next.addr] });
    expect(await greeting(next.port)).toBe('edge');
    expect(await greeting(address.port)).toBe('ECONNREFUSED');
    socket.write('still here');
    expect(String((await once(socket, 'data'))[0])).toBe('still here');
    socket.destroy();
  });
});

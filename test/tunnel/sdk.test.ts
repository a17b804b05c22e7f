// An existing SDK, unchanged but for address and CA, with this gateway: refusals, the end of tunnels, commands and reconnection.

import { once } from 'node:events';
import { Agent } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { rootCertificates } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newCredential, strangeToken } from '../support/agents/live.ts';
import { codeOf as errorCodeOf, rawAgent } from '../support/agents/raw-agent.ts';
import { httpName, SDK_PREFIX, sdkSession } from '../support/agents/sdk.ts';
import { startUpstream } from '../support/events/traffic.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { hops, newPlace } from '../support/gateway/place.ts';
import { visit } from '../support/visit.ts';
import { again, back } from './raw-agents.ts';
import { codeOf, echoServer, sayTo, sdkLab, soon } from './sdk-lab.ts';

const lab = sdkLab('sdk');
const { newName, connected, get, hello } = lab;

describe('what is refused', () => {
  test('an authtoken of nobody is 107, one without the form of one 105', async () => {
    expect(await codeOf(sdkSession(lab.gateway, strangeToken(lab.credential.credentialId)))).toBe(107);
    expect(await codeOf(sdkSession(lab.gateway, 'x'))).toBe(105);
  });

  test('a name that the ACL does not allow is 316, and the session goes on', async () => {
    const allowed = newName();
    const limited = await newCredential(lab.account, { acl: [`bind:${allowed}`] });
    const session = await sdkSession(lab.gateway, limited.authtoken);
    expect(await codeOf(httpName(session, newName()).listen())).toBe(316);
    expect(await codeOf(session.tcpEndpoint().listen())).toBe(356);
    expect(await codeOf(session.labeledListener().label('door', 'front').listen())).toBe(399);
    const { listener } = await hello(allowed, session);
    expect((await get(listener.url())).body).toBe('hello');
  });

  test('a name in use is 334', async () => {
    const { name } = await hello();
    expect(await codeOf(httpName(await connected(), name).listen())).toBe(334);
  });

  test('a CA that the SDK is not told of keeps it from saying anything', async () => {
    const [ca = ''] = rootCertificates;
    await expect(sdkSession({ ...lab.gateway, ca }, lab.credential.authtoken)).rejects.toThrow('tls handshake error');
  });

  test('a binding that is not that of the name is 90202', async () => {
    const session = await connected();
    expect(await codeOf(httpName(session, newName()).binding('internal').listen())).toBe(90202);
    expect(await codeOf(httpName(session, 'a-name.internal').binding('public').listen())).toBe(90202);
    expect(await codeOf(httpName(session, 'a-name.internal').binding('internal').listen())).toBeUndefined();
  });
});

describe('what ends', () => {
  test('a listener that is closed is gone at once; its name can be had by another', async () => {
    const { listener, name, session } = await hello();
    await listener.close();
    expect((await visit(`http://${name}`, lab.gateway.http)).status).toBe(404);
    await hello(name);
    await hello(newName(), session);
  });

  test('a deleted credential ends its session, and every further try', async () => {
    const own = await newCredential(lab.account);
    const lost: string[] = [];
    const session = await sdkSession(lab.gateway, own.authtoken, (builder) =>
      builder.handleDisconnection((_, error) => {
        lost.push(error);
        return lost.length < 2; // Whether to try again.
      }),
    );
    const { name } = await hello(newName(), session);
    await lab.account.call('DELETE', `/credentials/${own.credentialId}`);
    await eventually(() => expect(lost.length).toBe(2));
    expect((await visit(`http://${name}`, lab.gateway.http)).status).toBe(404);
    const { body } = await lab.account.call('GET', '/tunnel_sessions');
    expect(body.tunnel_sessions.filter((row: Row) => row.credential?.id === own.credentialId)).toEqual([]);
  });

  test('an ACL that no longer allows a name stops that tunnel, and tells the SDK why', async () => {
    const [kept, denied] = [newName(), newName()];
    const own = await newCredential(lab.account);
    const session = await sdkSession(lab.gateway, own.authtoken);
    await hello(kept, session);
    const listener = await httpName(session, denied).listen();
    const forwarding = expect(listener.forward('http://127.0.0.1:1')).rejects.toThrow(
      new RegExp(`such as \\\\"bind:${denied}\\\\".*${SDK_PREFIX}316`),
    );
    await lab.account.call('PATCH', `/credentials/${own.credentialId}`, { acl: [`bind:${kept}`] });
    await forwarding;
    await soon(async () => expect((await visit(`http://${denied}`, lab.gateway.http)).status).toBe(404));
    expect((await visit(`http://${kept}`, lab.gateway.http)).body).toBe('hello');
  });
});

interface Row {
  id: string;
  credential: { id: string } | null;
}

describe('what is told from afar', () => {
  async function sessionWith(setUp: Parameters<typeof sdkSession>[2]): Promise<string> {
    const metadata = newName();
    await sdkSession(lab.gateway, lab.credential.authtoken, (builder) => setUp?.(builder.metadata(metadata)));
    const { body } = await lab.account.call('GET', '/tunnel_sessions');
    return body.tunnel_sessions.find((row: { metadata: string }) => row.metadata === metadata).id;
  }

  test('stop, restart and update come to their handlers', async () => {
    const heard: unknown[] = [];
    const id = await sessionWith((builder) =>
      builder
        .handleStopCommand(() => heard.push('stop'))
        .handleRestartCommand(() => heard.push('restart'))
        .handleUpdateCommand(({ version, permitMajorVersion }) => heard.push({ version, permitMajorVersion })),
    );
    const order = { version: '9.8.7', permit_major_version: true };
    for (const [command, body] of Object.entries({ stop: {}, restart: {}, update: order }))
      expect((await lab.account.call('POST', `/tunnel_sessions/${id}/${command}`, body)).status).toBe(204);
    const update = { version: '9.8.7', permitMajorVersion: true };
    await eventually(() => expect(heard).toEqual(['stop', 'restart', update]));
  });

  test.each(['stop', 'restart', 'update'])(
    '%s without a handler is a conflict, in the words of the SDK',
    async (command) => {
      const id = await sessionWith(() => {});
      const { status, body } = await lab.account.call('POST', `/tunnel_sessions/${id}/${command}`);
      expect({ status, msg: body.msg }).toEqual({ status: 409, msg: expect.stringMatching(/callback|support/i) });
    },
  );
});

describe('what comes back', () => {
  test('two sessions that ask for pooling serve one name in turn', async () => {
    const name = newName();
    for (const who of ['a', 'b']) {
      const upstream = await startUpstream((_, response) => response.end(who));
      await httpName(await connected(), name)
        .poolingEnabled(true)
        .listenAndForward(upstream.url);
    }
    const answers: string[] = [];
    for (let i = 0; i < 6; i++)
      answers.push((await visit(`http://${name}`, lab.gateway.http, { agent: new Agent() })).body);
    expect(answers.slice(0, 2).sort()).toEqual(['a', 'b']);
    expect(answers).toEqual([...answers.slice(0, 2), ...answers.slice(0, 2), ...answers.slice(0, 2)]);
  });

  test.skipIf(hops)(
    'after a restart of the gateway: the same ids, URLs and port, with nobody’s help; names are kept for their agents',
    async () => {
      const place = await newPlace();
      onTestFinished(() => place.remove());
      let own = await startTestGateway({}, { place });
      onTestFinished(() => own.close());
      const balancer = await startBalancer(own.agent);
      const echo = await echoServer();
      const upstream = await startUpstream((_, response) => response.end('hello'));
      const listed = async () => urls((await own.call('GET', '/tunnels')).body.tunnels);
      const session = await sdkSession({ ...own, agent: balancer.address }, own.first?.authtoken ?? '');
      const http = await httpName(session, newName()).listenAndForward(upstream.url);
      const tcp = await session.tcpEndpoint().listenAndForward(echo);
      const before = await listed();
      const owner = await own.newAccount();
      const [mine, others] = [await newCredential(owner), await newCredential(await own.newAccount())];
      const [agent, name] = [await rawAgent(own), newName()];
      const identity = await agent.auth(mine.authtoken);
      const bound = await agent.bind(name);

      balancer.hold();
      const httpPort = portOf(own.http);
      await own.close();
      expect((await agent.closed).message).toBe('the gateway is stopping');
      own = await startTestGateway({ HTTP_PORT: httpPort }, { place });
      const [other, same] = [await rawAgent(own), await rawAgent(own)];
      await other.auth(others.authtoken);
      expect(errorCodeOf(await other.bind(name))).toBe(320);
      expect((await same.auth(mine.authtoken, back({ identity }))).ClientId).toBe(identity.ClientId);
      expect(await same.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id });
      balancer.release(own.agent);
      await eventually(async () => expect(await listed()).toMatchObject(before));
      expect((await visit(String(http.url()), own.http)).body).toBe('hello');
      expect(await sayTo(tcp.url(), 'there and back')).toBe('there and back');
    },
  );
});

const portOf = (address: string) => String(address.split(':').at(-1));

/**
 * Stands before the agents' listener, and keeps who comes while it holds: the SDK tries for 2.5 s and then sleeps for two minutes,
 * and how long a restart takes depends on the machine.
 */
async function startBalancer(agent: string): Promise<{ address: string; hold(): void; release(agent: string): void }> {
  let target: string | undefined = agent;
  const waiting: Socket[] = [];
  const forward = (socket: Socket, to: string) => {
    const [host = '', port] = to.split(':');
    const onward = connect({ host, port: Number(port) });
    socket.pipe(onward).pipe(socket);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
  };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    if (target === undefined) waiting.push(socket);
    else forward(socket, target);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold() {
      target = undefined;
    },
    release(to) {
      target = to;
      for (const socket of waiting.splice(0)) forward(socket, to);
    },
  };
}

/** The URLs of tunnels, by their ids. */
const urls = (tunnels: { id: string; public_url: string }[]) =>
  Object.fromEntries(tunnels.map(({ id, public_url }) => [id, public_url]));

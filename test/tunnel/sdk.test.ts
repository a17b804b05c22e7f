// The SDK of the field, unchanged but for address and CA, against this gateway.

import { once } from 'node:events';
import { Agent } from 'node:http';
import { createServer as createH2 } from 'node:http2';
import { connect, createServer } from 'node:net';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { newCredential, strangeToken, type TestCredential } from '../support/agents/live.ts';
import { httpName, SDK_PREFIX, type SdkSession, sdkSession } from '../support/agents/sdk.ts';
import { crowd, download, listen, startUpstream, upload } from '../support/events/traffic.ts';
import { eventually } from '../support/eventually.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace } from '../support/gateway/place.ts';
import { visit } from '../support/visit.ts';

const MIB_EACH_WAY = 20;
const CROWD = 2000;

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
let names = 0;
beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.newAccount();
  credential = await newCredential(account);
});
afterAll(() => gateway?.close());

const newName = () => `sdk-${++names}.tunnel.localhost`;
const connected = () => sdkSession(gateway, credential.authtoken);
const placeOf = (listener: { url(): string | null }) => ({ url: String(listener.url()), listener: gateway.http });
const get = (url: string | null) => visit(String(url), gateway.http);

/** The number of the code that the SDK found. */
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    ({ errorCode }) => Number(String(errorCode).replace(SDK_PREFIX, '')),
  );

/** A session with one name that answers `hello`. */
async function hello(name = newName(), session?: SdkSession) {
  const upstream = await startUpstream((_, response) => response.end('hello'));
  const own = session ?? (await connected());
  const listener = await httpName(own, name).listenAndForward(upstream.url);
  return { session: own, listener, upstream, name };
}

/** A TCP server that says what it hears. @returns its URL. */
const echoServer = async () => (await listen(createServer((socket) => socket.pipe(socket)))).replace('http', 'tcp');

/** Says something to a TCP endpoint. @returns what comes back until the end. */
async function sayTo(url: string | null, text: string): Promise<string> {
  const visitor = connect(Number(new URL(String(url)).port), '127.0.0.1');
  visitor.end(text);
  let got = '';
  for await (const chunk of visitor.setEncoding('utf8')) got += chunk;
  return got;
}

describe('what is refused', () => {
  test('an authtoken of nobody is 107, one without the form of one 105', async () => {
    expect(await codeOf(sdkSession(gateway, strangeToken(credential.credentialId)))).toBe(107);
    expect(await codeOf(sdkSession(gateway, 'x'))).toBe(105);
  });

  test('a name that the ACL does not allow is 316, and the session goes on', async () => {
    const allowed = newName();
    const limited = await newCredential(account, { acl: [`bind:${allowed}`] });
    const session = await sdkSession(gateway, limited.authtoken);
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
    await expect(sdkSession({ ...gateway, ca }, credential.authtoken)).rejects.toThrow('tls handshake error');
  });

  type Http = ReturnType<typeof httpName>;
  test.each<[string, (builder: Http) => Http]>([
    ['OAuth', (http) => http.oauth('google')],
    ['OIDC', (http) => http.oidc('https://id.example.com', 'id', 'secret')],
  ])('who asks for %s is not left open to all: 90203', async (_, option) => {
    const name = newName();
    expect(await codeOf(option(httpName(await connected(), name)).listen())).toBe(90203);
    expect((await visit(`http://${name}`, gateway.http)).status).toBe(404);
  });

  test('a binding that is not that of the name is 90202', async () => {
    const session = await connected();
    expect(await codeOf(httpName(session, newName()).binding('internal').listen())).toBe(90202);
    expect(await codeOf(httpName(session, 'a-name.internal').binding('public').listen())).toBe(90202);
    expect(await codeOf(httpName(session, 'a-name.internal').binding('internal').listen())).toBeUndefined();
  });
});

describe('what is served', () => {
  test('http, by a name of one’s own or one that the gateway chooses; it is what the API shows', async () => {
    const { session, listener, upstream, name } = await hello();
    const chosen = await session.httpEndpoint().scheme('http').metadata('a door').listenAndForward(upstream.url);
    const [, port] = gateway.http.split(':');
    expect(listener.url()).toBe(`http://${name}:${port}`);
    expect(chosen.url()).toMatch(/^http:\/\/[0-9a-f]{12}\.tunnel\.localhost:\d+$/);
    for (const { url } of [placeOf(listener), placeOf(chosen)])
      expect(await get(url)).toMatchObject({ status: 200, body: 'hello' });
    const { body } = await account.call('GET', '/tunnels');
    expect(body.tunnels).toContainEqual(
      expect.objectContaining({ id: chosen.id(), public_url: chosen.url(), metadata: 'a door', proto: 'http' }),
    );
  });

  test('https, with the gateway’s certificate', async () => {
    const { session, upstream, name } = await hello();
    const listener = await session.httpEndpoint().domain(name).listenAndForward(upstream.url);
    expect(listener.url()).toBe(`https://${name}:${gateway.https.split(':')[1]}`);
    expect(await visit(String(listener.url()), gateway.https, { ca: gateway.ca })).toMatchObject({ body: 'hello' });
  });

  test('http to an upstream that is not there is the SDK’s own 502', async () => {
    const session = await connected();
    const listener = await httpName(session, newName()).listenAndForward('http://127.0.0.1:1');
    expect(await get(listener.url())).toMatchObject({ status: 502, body: expect.stringContaining('failed to dial') });
  });

  test('tcp, both ways, on a port of the gateway’s choice', async () => {
    const listener = await (await connected()).tcpEndpoint().listenAndForward(await echoServer());
    expect(await sayTo(listener.url(), 'there and back')).toBe('there and back');
  });

  test('labels are accepted and listed', async () => {
    const listener = await (await connected())
      .labeledListener()
      .label('door', 'front')
      .label('floor', '2')
      .metadata('m')
      .listenAndForward('http://127.0.0.1:1');
    const { body } = await account.call('GET', '/tunnels');
    expect(body.tunnels).toContainEqual(
      expect.objectContaining({ id: listener.id(), labels: { door: 'front', floor: '2' }, metadata: 'm' }),
    );
  });

  test('a WebSocket, in messages up to 1 MiB', async () => {
    const { listener, upstream } = await hello();
    new WebSocketServer({ server: upstream.server }).on('connection', (socket) =>
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
    );
    const { host } = new URL(String(listener.url()));
    const socket = new WebSocket(`ws://${gateway.http}/`, { headers: { host } });
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    for (const size of [0, 5, 70_000, 2 ** 20]) {
      socket.send(Buffer.alloc(size, size % 251));
      const [echo] = (await once(socket, 'message')) as [Buffer];
      expect(echo.equals(Buffer.alloc(size, size % 251))).toBe(true);
    }
    socket.close(4001);
    expect((await once(socket, 'close'))[0]).toBe(4001);
  });

  test('server-sent events, each as it is sent', async () => {
    let send: (event: string) => void = () => {};
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      send = (event) => response.write(`data: ${event}\n\n`);
      send('0');
    });
    const listener = await httpName(await connected(), newName()).listenAndForward(upstream.url);
    const { host } = new URL(String(listener.url()));
    const visitor = connect(Number(gateway.http.split(':')[1]), '127.0.0.1').setEncoding('utf8');
    onTestFinished(() => void visitor.destroy());
    visitor.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    let seen = '';
    visitor.on('data', (text) => {
      seen += text;
    });
    // The next is sent only when the one before has arrived.
    for (let event = 0; event < 5; event++) {
      await eventually(() => expect(seen).toContain(`data: ${event}\n\n`), { interval: 2 });
      send(String(event + 1));
    }
  });

  test(`${MIB_EACH_WAY} MiB each way, with a length and in chunks, with equal checksums`, async () => {
    const upstream = await startUpstream();
    const listener = await httpName(await connected(), newName()).listenAndForward(upstream.url);
    const all = [
      await download(placeOf(listener), MIB_EACH_WAY),
      await upload(placeOf(listener), MIB_EACH_WAY, true),
      await upload(placeOf(listener), MIB_EACH_WAY, false),
    ];
    for (const { sent, received, bytes } of all)
      expect({ received, bytes }).toEqual({ received: sent, bytes: MIB_EACH_WAY * 2 ** 20 });
  });

  test(`${CROWD} visitors at once over one session`, async () => {
    const { listener } = await hello();
    expect(await crowd(placeOf(listener), CROWD)).toEqual({ 200: CROWD });
  });

  test('answers of 16 KiB, one at a time, are not held up by Nagle’s algorithm', async () => {
    const upstream = await startUpstream((_, response) => response.end(Buffer.alloc(16 * 1024)));
    const listener = await httpName(await connected(), newName()).listenAndForward(upstream.url);
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const times: number[] = [];
    for (let i = 0; i < 41; i++) {
      const start = performance.now();
      const { body } = await visit(String(listener.url()), gateway.http, { agent });
      times.push(performance.now() - start);
      expect(body.length).toBe(16 * 1024);
    }
    expect(times.sort((a, b) => a - b)[20]).toBeLessThan(20);
  });

  test('an upstream of HTTP/2 is spoken to in it', async () => {
    const server = createH2((request, response) => response.end(`HTTP/${request.httpVersion}`));
    const http = httpName(await connected(), newName()).appProtocol('http2');
    const listener = await http.listenAndForward(await listen(server));
    expect(await get(listener.url())).toMatchObject({ status: 200, body: 'HTTP/2.0' });
  });

  test('the PROXY protocol tells an upstream who the visitor is, in version 1', async () => {
    const upstream = createServer((socket) =>
      socket.once('data', (head) => {
        const [line = ''] = head.toString('latin1').split('\r\n');
        socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${line.length}\r\n\r\n${line}`);
      }),
    );
    const listener = await httpName(await connected(), newName())
      .proxyProto('1')
      .listenAndForward(await listen(upstream));
    expect((await get(listener.url())).body).toMatch(/^PROXY TCP4 127\.0\.0\.1 \S+ \d+ \d+$/);
  });

  test('the PROXY protocol tells an upstream who the visitor is, in version 2', async () => {
    const tcp = (await connected()).tcpEndpoint().proxyProto('2');
    const listener = await tcp.listenAndForward(await echoServer());
    const visitor = connect(Number(new URL(String(listener.url())).port), '127.0.0.1').on('error', () => {});
    onTestFinished(() => void visitor.destroy());
    await once(visitor, 'connect');
    const { localPort = 0 } = visitor;
    visitor.write('x');
    const [head] = (await once(visitor, 'data')) as [Buffer];
    expect(head.subarray(0, 12).toString('latin1')).toBe('\r\n\r\n\0\r\nQUIT\n');
    expect([...head.subarray(12, 20)]).toEqual([0x21, 0x11, 0, 12, 127, 0, 0, 1]);
    expect(head.readUInt16BE(24)).toBe(localPort);
  });
});

describe('what ends', () => {
  test('a listener that is closed is gone at once; its name can be had by another', async () => {
    const { listener, name, session } = await hello();
    await listener.close();
    expect((await visit(`http://${name}`, gateway.http)).status).toBe(404);
    await hello(name);
    await hello(newName(), session);
  });

  test('a deleted credential ends its session, and every further try', async () => {
    const own = await newCredential(account);
    const lost: string[] = [];
    const session = await sdkSession(gateway, own.authtoken, (builder) =>
      builder.handleDisconnection((_, error) => {
        lost.push(error);
        return lost.length < 2; // Whether to try again.
      }),
    );
    const { name } = await hello(newName(), session);
    await account.call('DELETE', `/credentials/${own.credentialId}`);
    await eventually(() => expect(lost.length).toBe(2));
    expect((await visit(`http://${name}`, gateway.http)).status).toBe(404);
    const { body } = await account.call('GET', '/tunnel_sessions');
    expect(body.tunnel_sessions.filter((row: Row) => row.credential?.id === own.credentialId)).toEqual([]);
  });

  test('an ACL that no longer allows a name stops that tunnel, and tells the SDK why', async () => {
    const [kept, denied] = [newName(), newName()];
    const own = await newCredential(account);
    const session = await sdkSession(gateway, own.authtoken);
    await hello(kept, session);
    const listener = await httpName(session, denied).listen();
    const forwarding = expect(listener.forward('http://127.0.0.1:1')).rejects.toThrow(
      new RegExp(`no rule \\\\"bind:${denied}\\\\".*${SDK_PREFIX}316`),
    );
    await account.call('PATCH', `/credentials/${own.credentialId}`, { acl: [`bind:${kept}`] });
    await forwarding;
    expect((await visit(`http://${denied}`, gateway.http)).status).toBe(404);
    expect((await visit(`http://${kept}`, gateway.http)).body).toBe('hello');
  });
});

interface Row {
  id: string;
  credential: { id: string } | null;
}

describe('what is told from afar', () => {
  async function sessionWith(setUp: Parameters<typeof sdkSession>[2]): Promise<string> {
    const metadata = newName();
    await sdkSession(gateway, credential.authtoken, (builder) => setUp?.(builder.metadata(metadata)));
    const { body } = await account.call('GET', '/tunnel_sessions');
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
      expect((await account.call('POST', `/tunnel_sessions/${id}/${command}`, body)).status).toBe(204);
    const update = { version: '9.8.7', permitMajorVersion: true };
    await eventually(() => expect(heard).toEqual(['stop', 'restart', update]));
  });

  test.each(['stop', 'restart', 'update'])(
    '%s without a handler is a conflict, in the words of the SDK',
    async (command) => {
      const id = await sessionWith(() => {});
      const { status, body } = await account.call('POST', `/tunnel_sessions/${id}/${command}`);
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
      answers.push((await visit(`http://${name}`, gateway.http, { agent: new Agent() })).body);
    expect(answers.slice(0, 2).sort()).toEqual(['a', 'b']);
    expect(answers).toEqual([...answers.slice(0, 2), ...answers.slice(0, 2), ...answers.slice(0, 2)]);
  });

  test('after a restart of the gateway: the same ids, URLs and port, with nobody’s help', async () => {
    const place = await newPlace();
    onTestFinished(() => place.remove());
    let own = await startTestGateway({}, { place });
    onTestFinished(() => own.close());
    const portOf = (address: string) => String(address.split(':').at(-1));
    const ports = { AGENT_PORT: portOf(own.agent), HTTP_PORT: portOf(own.http) };
    const echo = await echoServer();
    const upstream = await startUpstream((_, response) => response.end('hello'));
    const token = own.first?.authtoken ?? '';

    // The SDK tries for 2.5 s and then sleeps for two minutes: a restart that took longer is no proof, and made again.
    let awayFor = Number.POSITIVE_INFINITY;
    let before: object = {};
    let http: { url(): string | null } | undefined;
    let tcp: { url(): string | null } | undefined;
    for (let attempt = 1; attempt <= 3 && awayFor > 2000; attempt++) {
      let lost = Number.POSITIVE_INFINITY;
      const session = await sdkSession(own, token, (builder) =>
        builder.handleDisconnection(() => {
          lost = Math.min(lost, performance.now());
          return true;
        }),
      );
      http = await httpName(session, newName()).listenAndForward(upstream.url);
      tcp = await session.tcpEndpoint().listenAndForward(echo);
      before = urls((await own.call('GET', '/tunnels')).body.tunnels);
      await own.close();
      own = await startTestGateway(ports, { place });
      awayFor = performance.now() - lost;
    }
    expect(awayFor).toBeLessThan(2000);
    const after = async () => urls((await own.call('GET', '/tunnels')).body.tunnels);
    await eventually(async () => expect(await after()).toEqual(before));
    expect((await visit(String(http?.url()), own.http)).body).toBe('hello');
    expect(await sayTo(tcp?.url() ?? null, 'there and back')).toBe('there and back');
  });
});

/** The URLs of tunnels, by their ids. */
const urls = (tunnels: { id: string; public_url: string }[]) =>
  Object.fromEntries(tunnels.map(({ id, public_url }) => [id, public_url]));

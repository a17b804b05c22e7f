// Cloud endpoints of every scheme and binding, made as existing clients make them: each is visited, or reached by `forward-internal`,
// and so is what it forwards to.

import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newCredential, reserve } from '../../support/agents/live.ts';
import { codeOf, type RawAgent, rawAgent } from '../../support/agents/raw-agent.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { visit } from '../../support/visit.ts';
import { newName, visitEdge } from './support.ts';

let gateway: TestGateway;
let account: Account;
let agent: RawAgent;
/** Where the agent answers with the id of its tunnel, by scheme. */
const internal: Record<string, { url: string; id: string }> = {};

beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

/** The agent is connected for as long as a test runs. */
async function connectAgent(onData?: (data: Buffer) => void): Promise<RawAgent> {
  agent = await rawAgent(gateway, { onData });
  expect((await agent.auth((await newCredential(account)).authtoken)).Error).toBe('');
  for (const [scheme, port] of [
    ['http', ''],
    ['https', ':8443'],
    ['tcp', ':5432'],
    ['tls', ''],
  ] as const) {
    const url = `${scheme}://${newName('inner').split('.')[0]}.internal${port}`;
    const bound = await agent.bind('', { Proto: scheme, Opts: { URL: url }, Extra: { Bindings: ['internal'] } });
    expect(bound.Error).toBe('');
    internal[scheme] = { url, id: bound.Id };
  }
  return agent;
}

/** A request of a client of the original, in its dialect. */
const call = (method: string, path: string, body?: object) => account.call(method, path, body, { dialect: 'extended' });

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
async function made(path: string, body: object): Promise<any> {
  const answer = await call('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

const newCloud = (url: string, policy: string, more: object = {}) =>
  made('/endpoints', { url, type: 'cloud', traffic_policy: policy, ...more });

const onRequest = (...actions: object[]) => JSON.stringify({ on_http_request: [{ actions }] });
const onConnect = (...actions: object[]) => JSON.stringify({ on_tcp_connect: [{ actions }] });
const forward = (url: string) => ({ type: 'forward-internal', config: { url } });
const say = (content: string) => onRequest({ type: 'custom-response', config: { status_code: 200, content } });

const inner = () => `${newName('svc').split('.')[0]}.internal`;
async function reserved(): Promise<string> {
  const name = newName('scheme');
  await reserve(account, name);
  return name;
}
const reservedAddress = async (): Promise<string> => (await made('/reserved_addrs', {})).addr;

/** The type of the first record of TLS (RFC 8446, section 5.1). */
const TLS_HANDSHAKE = 22;
const ASKED = 'GET / HTTP/1.1\r\n\r\n';

/** What a connection is answered with before it is closed, without the head; '' where it is closed at once. */
async function saidOver(socket: ReturnType<typeof connect>): Promise<string> {
  let got = '';
  socket.on('error', () => {});
  socket.write(ASKED);
  try {
    for await (const chunk of socket) {
      got += chunk;
      if (/\r\n\r\n.+/s.test(got)) break;
    }
  } catch {
    return '';
  }
  return got.split('\r\n\r\n')[1] ?? '';
}
const overTcp = (addr: string) => saidOver(connect(Number(addr.split(':')[1]), '127.0.0.1'));
function overTls(name: string): Promise<string> {
  const [host, port] = gateway.https.split(':');
  return saidOver(connectTls({ host, port: Number(port), servername: name, ca: gateway.ca }));
}

describe('a public cloud endpoint', () => {
  test('of http answers there, beside one of https with the same name', async () => {
    const name = await reserved();
    const plain = await newCloud(`http://${name}`, say('plain'));
    const [, port] = gateway.http.split(':');
    expect(plain).toMatchObject({
      ...{ type: 'cloud', url: `http://${name}`, proto: 'http', scheme: 'http', host: name, port: Number(port) },
      ...{ public_url: `http://${name}:${port}`, hostport: `${name}:80`, bindings: ['public'] },
      ...{ pooling_enabled: false, domain: { id: expect.stringMatching(/^rd_/) }, tcp_addr: null, edge: null },
    });
    await newCloud(`https://${name}`, say('secure'));
    expect(await visit(`http://${name}`, gateway.http)).toMatchObject({ status: 200, body: 'plain' });
    expect(await visitEdge(gateway, { name })).toMatchObject({ status: 200, body: 'secure' });
    expect((await call('DELETE', `/endpoints/${plain.id}`)).status).toBe(204);
    expect((await visit(`http://${name}`, gateway.http)).status).toBe(307);
  });

  test('of tcp has a reserved address, and sends connections on', async () => {
    await connectAgent();
    const addr = await reservedAddress();
    const endpoint = await newCloud(`tcp://${addr}`, onConnect(forward(internal.tcp?.url ?? '')));
    expect(endpoint).toMatchObject({
      ...{ url: `tcp://${addr}`, public_url: `tcp://${addr}`, proto: 'tcp', hostport: addr, bindings: ['public'] },
      ...{ tcp_addr: { id: expect.stringMatching(/^ra_/) }, domain: null },
    });
    await expect.poll(() => overTcp(addr)).toBe(internal.tcp?.id);
    const changed = await call('PATCH', `/endpoints/${endpoint.id}`, { traffic_policy: '' });
    expect(changed.body, changed.text).toMatchObject({ traffic_policy: '', url: `tcp://${addr}` });
    expect(await overTcp(addr)).toBe('');
    expect((await call('DELETE', `/reserved_addrs/${endpoint.tcp_addr.id}`)).status).toBe(409);
    expect((await call('DELETE', `/endpoints/${endpoint.id}`)).status).toBe(204);
    const { id, url, proto } = await newCloud(addr, onConnect(forward(internal.tcp?.url ?? '')));
    expect({ url, proto }).toEqual({ url: addr, proto: 'tcp' });
    await expect.poll(() => overTcp(addr)).toBe(internal.tcp?.id);
    expect((await call('DELETE', `/endpoints/${id}`)).status).toBe(204);
    expect((await call('DELETE', `/reserved_addrs/${endpoint.tcp_addr.id}`)).status).toBe(204);
  });

  test('of tls ends the TLS where its policy says so, and sends connections on', async () => {
    let got: Buffer | undefined;
    await connectAgent((data) => {
      got = data;
    });
    const name = await reserved();
    const policy = onConnect({ type: 'terminate-tls', config: {} }, forward(internal.tcp?.url ?? ''));
    const endpoint = await newCloud(`tls://${name}`, policy);
    expect(endpoint).toMatchObject({ url: `tls://${name}`, proto: 'tls', hostport: `${name}:443` });
    expect(await overTls(name)).toBe(internal.tcp?.id);
    // Without that, the TLS goes on as it comes.
    const passed = await call('PATCH', `/endpoints/${endpoint.id}`, {
      traffic_policy: onConnect(forward(internal.tcp?.url ?? '')),
    });
    expect(passed.status, passed.text).toBe(200);
    const visitor = connectTls({ host: '127.0.0.1', port: Number(gateway.https.split(':')[1]), servername: name });
    visitor.on('error', () => {});
    onTestFinished(() => void visitor.destroy());
    await expect.poll(() => got?.[0]).toBe(TLS_HANDSHAKE);
  });
});

describe('an internal cloud endpoint', () => {
  test.each([
    ['http', ''],
    ['http', ':8080'],
    ['https', ''],
    ['https', ':8443'],
  ])('of %s answers what is forwarded to it, at its port%s', async (scheme, port) => {
    const url = `${scheme}://${inner()}${port}`;
    const endpoint = await newCloud(url, say(url), { bindings: ['internal'], metadata: 'm', description: 'd' });
    const { hostname } = new URL(url);
    const number = Number(port.slice(1)) || (scheme === 'http' ? 80 : 443);
    expect(endpoint).toMatchObject({
      ...{ url, public_url: url, scheme, host: hostname, port: number, hostport: `${hostname}:${number}` },
      ...{ bindings: ['internal'], domain: null, tcp_addr: null, metadata: 'm', description: 'd', type: 'cloud' },
    });
    const name = await reserved();
    await newCloud(`https://${name}`, onRequest(forward(url)));
    expect(await visitEdge(gateway, { name })).toMatchObject({ status: 200, body: url });
    // No visitor comes there by the name.
    expect((await visit(`http://${hostname}`, gateway.http)).status).toBe(404);
  });

  test.each([
    ['', 'https', 443],
    [':443', 'https', 443],
    [':80', 'http', 80],
  ])('whose URL has no scheme, and the port “%s”, is of %s', async (port, scheme, number) => {
    const host = inner();
    const endpoint = await newCloud(`${host}${port}`, say(scheme));
    expect(endpoint).toMatchObject({
      ...{ url: `${host}${port}`, public_url: `${scheme}://${host}`, proto: scheme, scheme, host, port: number },
      ...{ hostport: `${host}:${number}`, bindings: ['internal'] },
    });
    const name = await reserved();
    await newCloud(name, onRequest(forward(`${scheme}://${host}`)));
    expect(await visitEdge(gateway, { name })).toMatchObject({ status: 200, body: scheme });
    expect(await call('POST', '/endpoints', { url: `${scheme}://${host}` })).toMatchObject({ status: 409 });
  });

  test('sends requests on, also those that policies make', async () => {
    await connectAgent();
    const url = `http://${inner()}:3000`;
    await newCloud(url, onRequest(forward(internal.https?.url ?? '')));
    const name = await reserved();
    await newCloud(`http://${name}`, onRequest(forward(url)));
    expect(await visit(`http://${name}`, gateway.http)).toMatchObject({ status: 200, body: internal.https?.id });
    const asking = await reserved();
    const asks = onRequest(
      { type: 'http-request', config: { url: `${url}/asked` } },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of a policy
      { type: 'custom-response', config: { content: '${actions.http_request.res.body}' } },
    );
    await newCloud(`http://${asking}`, asks);
    expect(await visit(`http://${asking}`, gateway.http)).toMatchObject({ status: 200, body: internal.https?.id });
  });

  test.each(['tcp', 'tls'])('of %s sends connections on, and those of agents reach it', async (scheme) => {
    await connectAgent();
    const url = `${scheme}://${inner()}:6543`;
    await newCloud(url, onConnect(forward(internal[scheme]?.url ?? '')));
    const addr = await reservedAddress();
    await newCloud(`tcp://${addr}`, onConnect(forward(url)));
    await expect.poll(() => overTcp(addr)).toBe(internal[scheme]?.id);
    const { Error: text, URL: at } = await agent.bind('', {
      Proto: 'tcp',
      Opts: { Addr: '', TrafficPolicy: onConnect(forward(url)) },
    });
    expect(text).toBe('');
    expect(await overTcp(`:${new URL(at).port}`)).toBe(internal[scheme]?.id);
  });

  test('is its account’s alone', async () => {
    const url = `https://${inner()}`;
    await newCloud(url, say('first'));
    const other = await gateway.newAccount();
    const body = { url, traffic_policy: say('second') };
    expect((await other.call('POST', '/cloud_endpoints', body)).status).toBe(201);
    const name = await reserved();
    await newCloud(`https://${name}`, onRequest(forward(url)));
    expect(await visitEdge(gateway, { name })).toMatchObject({ body: 'first' });
  });

  test('moves to another URL, and another scheme', async () => {
    const [first, second] = [`http://${inner()}:81`, `https://${inner()}`];
    const { id } = await newCloud(first, say('moved'));
    const name = await reserved();
    await newCloud(`https://${name}`, onRequest(forward(second)));
    expect((await visitEdge(gateway, { name })).status).toBe(502);
    const moved = await call('PATCH', `/endpoints/${id}`, { url: second });
    expect(moved.body, moved.text).toMatchObject({ id, url: second, scheme: 'https', port: 443 });
    expect(await visitEdge(gateway, { name })).toMatchObject({ status: 200, body: 'moved' });
    expect((await newCloud(first, say('another'))).url).toBe(first);
  });
});

test('a cloud endpoint that a version before has written answers, and is changed like any other', async () => {
  const name = await reserved();
  const { id } = await newCloud(`https://${name}`, say('before'));
  const { prisma } = gateway.app;
  const row = await prisma.cloudUrl.findFirstOrThrow({ where: { hostname: name } });
  const { edgeId, domainId } = row;
  await prisma.edgeHostport.create({ data: { hostport: `${name}:443`, edgeId, domainId, position: 0 } });
  await prisma.cloudUrl.delete({ where: { edgeId } });
  const same = await call('PATCH', `/endpoints/${id}`, { traffic_policy: say('still') });
  expect(same.body, same.text).toMatchObject({ url: `https://${name}`, pooling_enabled: false });
  expect(await visitEdge(gateway, { name })).toMatchObject({ status: 200, body: 'still' });
  expect(await call('POST', '/endpoints', { url: `https://${name}` })).toMatchObject({ status: 409 });
  await newCloud(`http://${name}`, say('plain'));
  const changed = await call('PATCH', `/endpoints/${id}`, { pooling_enabled: true });
  expect(changed.body, changed.text).toMatchObject({ id, url: `https://${name}`, pooling_enabled: true });
  await newCloud(`https://${name}`, say('beside'), { pooling_enabled: true });
  const bodies = [await visitEdge(gateway, { name }), await visitEdge(gateway, { name })].map(({ body }) => body);
  expect(bodies.sort()).toEqual(['beside', 'still']);
});

test('a cloud endpoint has the events and the figures of any endpoint', async () => {
  const url = `tcp://${inner()}:7`;
  const { id } = await newCloud(url, onConnect({ type: 'deny' }), { pooling_enabled: true });
  const addr = await reservedAddress();
  const door = await newCloud(`tcp://${addr}`, onConnect(forward(url)));
  await expect.poll(() => overTcp(addr)).toBe('');
  const query = `query ($id: ID!) { endpoint(id: $id) { type url bindings poolingEnabled traffic { requests } }
    objectHistory(id: $id) { nodes { action } } }`;
  await expect
    .poll(async () => (await account.graphql(query, { id: door.id })).body.data?.endpoint.traffic?.requests)
    .toBeGreaterThan(0);
  const { body } = await account.graphql(query, { id });
  expect(body.data, JSON.stringify(body.errors)).toMatchObject({
    endpoint: { type: 'CLOUD', url, bindings: ['internal'], poolingEnabled: true },
    objectHistory: { nodes: [{ action: 'CREATED' }] },
  });
});

describe('is refused', () => {
  const refused = (number: number, status = 400) => ({
    status,
    body: { error_code: expect.stringMatching(new RegExp(`_${number}$`)) },
  });

  test.each([
    ['ftp://a.internal', 90393],
    ['tcp://a.internal', 90393],
    ['tcp://', 90393],
    ['https://', 90393],
    ['shop.example.com:65536', 90393],
    ['localhost', 90393],
    ['http://a.internal:0', 90393],
    ['http://a.internal:65536', 90393],
    ['https://*.a.internal', 90393],
    ['https://-a.internal', 90393],
    ['http://shop.example.com:8080', 90393],
    ['tls://shop.example.com:8443', 90393],
    ['tcp://tunnel.localhost:1', 7114],
    ['tcp://elsewhere.example.com:20000', 7114],
    ['http://shop.example.com', 7117],
    ['shop.example.com', 7117],
    ['shop.example.com:80', 7117],
    ['shop.example.com:8080', 7114],
    ['tls://shop.example.com', 7117],
  ])('%s: %i', async (url, number) => {
    expect(await call('POST', '/endpoints', { url, type: 'cloud' })).toMatchObject(refused(number));
  });

  test.each([
    ['public', 'https://a.internal', 90397],
    ['kubernetes', 'https://a.internal', 90398],
  ])('the binding %s of %s', async (binding, url, number) => {
    const body = { url, type: 'cloud', bindings: [binding] };
    expect(await call('POST', '/endpoints', body)).toMatchObject(refused(number));
  });

  test('the binding internal of a public name', async () => {
    const body = { url: `https://${await reserved()}`, type: 'cloud', bindings: ['internal'] };
    expect(await call('POST', '/endpoints', body)).toMatchObject(refused(90397));
  });

  test('a policy that is for another protocol', async () => {
    const url = `tcp://${inner()}:22`;
    const wrong = await call('POST', '/endpoints', { url, type: 'cloud', traffic_policy: say('x') });
    expect(wrong.status, wrong.text).toBe(400);
    const { id } = await newCloud(url, onConnect({ type: 'deny' }));
    const moved = { url: `http://${inner()}` };
    expect(await call('PATCH', `/endpoints/${id}`, moved)).toMatchObject(refused(90399));
    const both = await call('PATCH', `/endpoints/${id}`, { ...moved, traffic_policy: say('x') });
    expect(both.body, both.text).toMatchObject(moved);
  });

  test('an address that an edge, an agent or another cloud endpoint has, to whichever comes second', async () => {
    await connectAgent();
    const addr = await reservedAddress();
    const { id } = await newCloud(`tcp://${addr}`, onConnect({ type: 'deny' }));
    expect(await call('POST', '/edges/tcp', { hostports: [addr] })).toMatchObject(refused(7122, 409));
    const bind = () => agent.bind('', { Proto: 'tcp', Opts: { URL: `tcp://${addr}` } });
    expect(codeOf(await bind())).toBe(381);
    expect(await call('POST', '/endpoints', { url: `tcp://${addr}` })).toMatchObject(refused(18017, 409));
    expect((await call('DELETE', `/endpoints/${id}`)).status).toBe(204);
    await made('/edges/tcp', { hostports: [addr] });
    expect(await call('POST', '/endpoints', { url: `tcp://${addr}` })).toMatchObject(refused(7122, 409));

    const url = `https://${inner()}:8443`;
    const bindInternal = () => agent.bind('', { Proto: 'https', Opts: { URL: url } });
    const cloud = await newCloud(url, say('cloud'));
    expect(codeOf(await bindInternal())).toBe(381);
    expect((await call('DELETE', `/endpoints/${cloud.id}`)).status).toBe(204);
    expect((await bindInternal()).Error).toBe('');
    expect(await call('POST', '/endpoints', { url })).toMatchObject(refused(18017, 409));
    const pooled = { url, pooling_enabled: true };
    expect(await call('POST', '/endpoints', pooled)).toMatchObject(refused(18016, 409));
  });

  test('the name of the scheme beside it leaves an agent its own', async () => {
    await connectAgent();
    const name = await reserved();
    await newCloud(`https://${name}`, say('secure'));
    expect((await agent.bind(name)).Error).toBe('');
    expect(codeOf(await agent.bind(name, { Proto: 'tls' }))).toBe(381);
  });
});

// Edges through all of the gateway: configured by the API, visited at the public listeners, served by an agent.

import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { beforeAll, expect, test } from 'vitest';
import { StreamType } from '../../../src/protocol/messages/typed-stream.ts';
import { newCredential, reserve, type TestCredential } from '../../support/agents/live.ts';
import { rawAgent } from '../../support/agents/raw-agent.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { type VisitOptions, visit } from '../../support/visit.ts';

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
let backend: { backend_id: string };
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  credential = await newCredential(account);
  backend = { backend_id: await made('/backends/tunnel_group', { labels: { app: 'web' } }) };
});

async function call(method: string, path: string, body?: object) {
  const answer = await account.call(method, path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}
const made = async (path: string, body: object): Promise<string> => (await call('POST', path, body)).id;

const get = (name: string, path = '/', more?: VisitOptions) =>
  visit(`https://${name}${path}`, gateway.https, { ca: gateway.ca, ...more });

/** An agent with a tunnel that has these labels. @returns the tunnel's id, which it answers with. */
async function serve(labels: object) {
  const agent = await rawAgent(gateway);
  await agent.auth(credential.authtoken);
  const { Id, Error: error } = await agent.call(StreamType.START_TUNNEL_WITH_LABEL, {
    Labels: labels,
    ForwardsTo: 'x',
    Metadata: '',
  });
  expect(error).toBe('');
  return { agent, id: Id as string };
}

test('what the API has acknowledged is what visitors meet', async () => {
  const name = 'edges-app.tunnel.localhost';
  await reserve(account, name);
  expect((await get(name)).status).toBe(502);
  const edge = await made('/edges/https', { hostports: [`${name}:443`] });
  expect(await get(name)).toMatchObject({ status: 404, body: expect.stringContaining('ERR_GATEWAY_90130') });
  const route = `/edges/https/${edge}/routes/${await made(`/edges/https/${edge}/routes`, {
    match_type: 'path_prefix',
    match: '/a',
  })}`;
  expect(await get(name, '/a')).toMatchObject({ status: 502, body: expect.stringContaining('ERR_GATEWAY_90131') });
  await call('PUT', `${route}/backend`, backend);
  expect(await get(name, '/a')).toMatchObject({ status: 502, body: expect.stringContaining('ERR_GATEWAY_6528') });
  const { agent, id } = await serve({ app: 'web', more: 'yes' });
  expect(await get(name, '/a')).toMatchObject({ status: 200, body: expect.stringContaining(id) });
  for (let round = 0; round < 5; round++) {
    await call('PUT', `${route}/response_headers`, { add: { 'x-round': String(round) } });
    expect((await get(name, '/a')).headers['x-round']).toBe(String(round));
    await call('DELETE', `${route}/response_headers`);
    expect((await get(name, '/a')).headers['x-round']).toBeUndefined();
  }
  expect(await visit(`http://${name}/a?b`, gateway.http)).toMatchObject({
    status: 307,
    headers: { location: `https://${name}:${gateway.https.split(':')[1]}/a?b` },
  });
  agent.close();
  await expect.poll(async () => (await get(name, '/a')).status).toBe(502);
  await call('DELETE', `/edges/https/${edge}`);
  expect(await get(name, '/a')).toMatchObject({ status: 502, body: expect.stringContaining('ERR_GATEWAY_90100') });
});

test('an edge is among the endpoints as long as it has a backend', async () => {
  const name = 'edges-listed.tunnel.localhost';
  const domain = await reserve(account, name);
  const edge = await made('/edges/tls', { hostports: [`${name}:443`], metadata: 'mine', backend });
  const listed = async () => {
    const { endpoints } = await call('GET', '/endpoints');
    return endpoints.filter(({ hostport }: { hostport: string }) => hostport === `${name}:443`);
  };
  const [endpoint] = await listed();
  expect(endpoint).toMatchObject({
    type: 'edge',
    proto: 'tls',
    metadata: 'mine',
    public_url: `tls://${name}:${gateway.https.split(':')[1]}`,
    domain: { id: domain },
    edge: { id: edge },
    tunnel: null,
  });
  expect((await call('GET', `/endpoints/${endpoint.id}`)).id).toBe(endpoint.id);
  await call('PATCH', `/edges/tls/${edge}`, { metadata: 'new' });
  expect(await listed()).toMatchObject([{ id: endpoint.id, metadata: 'new' }]);
  await call('DELETE', `/edges/tls/${edge}/backend`);
  expect(await listed()).toEqual([]);
});

test('a TLS edge that ends TLS gives its tunnels what is inside', async () => {
  const name = 'edges-tls.tunnel.localhost';
  await reserve(account, name);
  const tls_termination = { terminate_at: 'edge' };
  await made('/edges/tls', { hostports: [`${name}:443`], backend, tls_termination });
  const { id } = await serve({ app: 'web' });
  const [host, port] = gateway.https.split(':');
  const socket = connectTls({ host, port: Number(port), servername: name, ca: gateway.ca });
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [answer] = await once(socket, 'data');
  socket.destroy();
  expect(String(answer)).toContain(id);
});

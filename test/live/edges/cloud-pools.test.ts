// Pools: cloud endpoints and tunnels of one account that ask for it share a URL, and take turns.

import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { newCredential, reserve } from '../../support/agents/live.ts';
import { codeOf, type RawAgent, rawAgent } from '../../support/agents/raw-agent.ts';
import { eventually } from '../../support/eventually.ts';
import { type Account, type Owner, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { visit } from '../../support/visit.ts';
import { newName, visitEdge } from './support.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

async function newAgent(): Promise<RawAgent> {
  const agent = await rawAgent(gateway);
  expect((await agent.auth((await newCredential(account)).authtoken)).Error).toBe('');
  return agent;
}

const call = (method: string, path: string, body?: object, owner: Owner = account) =>
  owner.call(method, path, body, { dialect: 'extended' });
const onRequest = (type: string, config: object) =>
  JSON.stringify({ on_http_request: [{ actions: [{ type, config }] }] });
const onConnect = (type: string, config: object) =>
  JSON.stringify({ on_tcp_connect: [{ actions: [{ type, config }] }] });
const say = (content: string) => onRequest('custom-response', { status_code: 200, content });
const pooled = (url: string, policy: string, more: object = {}) => ({
  ...{ url, type: 'cloud', traffic_policy: policy, pooling_enabled: true },
  ...more,
});

async function make(body: object): Promise<string> {
  const answer = await call('POST', '/endpoints', body);
  expect(answer.status, answer.text).toBe(201);
  expect(answer.body.pooling_enabled).toBe('pooling_enabled' in body && body.pooling_enabled);
  return answer.body.id;
}

/** Binds a URL for an agent that asks for pooling. @returns the id of the tunnel, with which it answers. */
async function join(agent: RawAgent, url: string): Promise<string> {
  const [Proto = ''] = url.split(':');
  const bound = await agent.bind('', { Proto, Opts: { URL: url }, Extra: { PoolingEnabled: true } });
  expect(bound.Error).toBe('');
  return bound.Id;
}

async function reserved(): Promise<string> {
  const name = newName('pool');
  await reserve(account, name);
  return name;
}
const internalUrl = (scheme: string) => `${scheme}://${newName('pool').split('.')[0]}.internal:7000`;

/** How often each answer comes. */
async function count(times: number, ask: () => Promise<string>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let i = 0; i < times; i++) {
    const answer = await ask();
    counts[answer] = (counts[answer] ?? 0) + 1;
  }
  return counts;
}

async function overTcp(addr: string): Promise<string> {
  const socket = connect(Number(addr.split(':')[1]), '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\n\r\n');
  let got = '';
  try {
    for await (const chunk of socket) {
      got += chunk;
      if (/\r\n\r\n.+/s.test(got)) break;
    }
  } catch {
    // It was cut, which an answer of nothing says.
  }
  return got.split('\r\n\r\n')[1] ?? '';
}

describe('pooled cloud endpoints and agents take turns', () => {
  test.each(['http', 'https'])('at a public name of %s', async (scheme) => {
    const name = await reserved();
    const url = `${scheme}://${name}`;
    const one = await make(pooled(url, say('one')));
    await make(pooled(url, say('two')));
    const agent = await newAgent();
    const tunnel = await join(agent, url);
    const ask = async () =>
      String((await (scheme === 'http' ? visit(url, gateway.http) : visitEdge(gateway, { name }))).body);
    expect(await count(12, ask)).toEqual({ one: 4, two: 4, [tunnel]: 4 });
    // Who leaves gets nobody any more; each keeps its figures.
    agent.close();
    await eventually(async () => expect(await count(4, ask)).toEqual({ one: 2, two: 2 }));
    expect((await call('DELETE', `/endpoints/${one}`)).status).toBe(204);
    expect(await count(2, ask)).toEqual({ two: 2 });
  });

  test('at an internal URL, for a policy that forwards there', async () => {
    const url = internalUrl('https');
    await make(pooled(url, say('cloud')));
    const tunnel = await join(await newAgent(), url);
    const name = await reserved();
    await make({ url: `http://${name}`, type: 'cloud', traffic_policy: onRequest('forward-internal', { url }) });
    const ask = async () => String((await visit(`http://${name}`, gateway.http)).body);
    expect(await count(6, ask)).toEqual({ cloud: 3, [tunnel]: 3 });
  });

  test('at a TCP address', async () => {
    const agent = await newAgent();
    const behind = internalUrl('tcp');
    const cloud = await join(agent, behind);
    const { addr } = (await call('POST', '/reserved_addrs', {})).body;
    await make(pooled(`tcp://${addr}`, onConnect('forward-internal', { url: behind })));
    const tunnel = await join(agent, `tcp://${addr}`);
    await expect.poll(() => overTcp(addr)).not.toBe('');
    expect(await count(6, () => overTcp(addr))).toEqual({ [cloud]: 3, [tunnel]: 3 });
  });

  test('and one that cannot be served as it is stored gets nobody while another can', async () => {
    const name = await reserved();
    const url = `https://${name}`;
    await make(pooled(url, say('good')));
    const id = await make(pooled(url, say('bad')));
    const row = await gateway.app.prisma.edge.findFirstOrThrow({ where: { endpoints: { some: { id } } } });
    const modules = { trafficPolicy: { enabled: true, masked: '<secret>', sealed: 'of another key' } };
    await gateway.app.prisma.edge.update({ where: { id: row.id }, data: { modules } });
    expect((await call('PATCH', `/endpoints/${id}`, { description: 'read again' })).status).toBe(200);
    expect(await count(4, async () => String((await visitEdge(gateway, { name })).body))).toEqual({ good: 4 });
  });
});

describe('a pooled cloud endpoint that sends visitors on', () => {
  test.each(['http', 'https'])(
    'is left out at %s while nobody is there, and while another can serve',
    async (scheme) => {
      const name = await reserved();
      const [url, behind] = [`${scheme}://${name}`, internalUrl('https')];
      const here = await make(pooled(url, say('here')));
      await make(pooled(url, onRequest('forward-internal', { url: behind })));
      const visited = () => (scheme === 'http' ? visit(url, gateway.http) : visitEdge(gateway, { name }));
      const ask = async () => String((await visited()).body);
      expect(await count(4, ask)).toEqual({ here: 4 });
      const agent = await newAgent();
      const tunnel = await join(agent, behind);
      expect(await count(4, ask)).toEqual({ here: 2, [tunnel]: 2 });
      agent.close();
      await eventually(async () => expect(await count(4, ask)).toEqual({ here: 4 }));
      // Alone, it says itself who is missing.
      expect((await call('DELETE', `/endpoints/${here}`)).status).toBe(204);
      const { status, body } = await visited();
      expect([status, String(body)]).toEqual([502, expect.stringContaining('ERR_GATEWAY_90132')]);
    },
  );

  test('is left out at a TCP address, too', async () => {
    const agent = await newAgent();
    const behind = internalUrl('tcp');
    const { addr } = (await call('POST', '/reserved_addrs', {})).body;
    await make(pooled(`tcp://${addr}`, onConnect('forward-internal', { url: behind })));
    const tunnel = await join(agent, `tcp://${addr}`);
    expect(await count(4, () => overTcp(addr))).toEqual({ [tunnel]: 4 });
    const sentOn = await join(agent, behind);
    expect(await count(4, () => overTcp(addr))).toEqual({ [sentOn]: 2, [tunnel]: 2 });
  });

  const nobody = () => ({ type: 'forward-internal', config: { url: internalUrl('https') } });
  const notice = { type: 'custom-response', config: { status_code: 200, content: 'notice' } };
  const when = (path: string) => ({ expressions: [`req.url.path == '${path}'`] });
  /** How often it is left out of four turns that it shares with another one. */
  async function turnsWithout(...rules: object[]): Promise<number> {
    const url = internalUrl('http');
    await make(pooled(url, say('other')));
    await make(pooled(url, JSON.stringify({ on_http_request: rules })));
    const name = await reserved();
    await make({ url: `http://${name}`, type: 'cloud', traffic_policy: onRequest('forward-internal', { url }) });
    const { other = 0 } = await count(4, async () => String((await visit(`http://${name}`, gateway.http)).body));
    return other - 2;
  }

  test.each([
    ['behind a notice at one path', () => [{ ...when('/'), actions: [notice] }, { actions: [nobody()] }]],
    ['at one path', () => [{ ...when('/'), actions: [nobody()] }]],
    [
      'at either path',
      () => [
        { ...when('/'), actions: [nobody()] },
        { ...when('/b'), actions: [nobody()] },
      ],
    ],
    ['before it denies the others', () => [{ ...when('/'), actions: [nobody()] }, { actions: [{ type: 'deny' }] }]],
  ])('to nobody, %s, is left out', async (_, rules) => {
    expect(await turnsWithout(...rules())).toBe(2);
  });

  test.each([
    ['or answers them', () => [{ ...when('/b'), actions: [nobody()] }, { actions: [notice] }]],
    [
      'and answers them where nobody is there',
      () => {
        const { type, config } = nobody();
        return [{ actions: [{ type, config: { ...config, on_error: 'continue' } }, notice] }];
      },
    ],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of a policy
    ['to an address of each one’s own', () => [{ actions: [{ ...nobody(), config: { url: 'https://${req.host}' } }] }]],
    ['never', () => [{ actions: [{ type: 'deny' }] }]],
  ])('%s, stays in', async (_, rules) => {
    expect(await turnsWithout(...rules())).toBe(0);
  });

  test('to one of which some are online, stays in; in a circle, is left out', async () => {
    const [url, other] = [internalUrl('https'), internalUrl('https')];
    await join(await newAgent(), url);
    const here = { type: 'forward-internal', config: { url } };
    expect(await turnsWithout({ ...when('/'), actions: [here] }, { ...when('/b'), actions: [nobody()] })).toBe(0);
    const [one, two] = [internalUrl('https'), internalUrl('https')];
    await make({ url: one, type: 'cloud', traffic_policy: onRequest('forward-internal', { url: two }) });
    await make({ url: two, type: 'cloud', traffic_policy: onRequest('forward-internal', { url: one }) });
    expect(await turnsWithout({ actions: [{ type: 'forward-internal', config: { url: one } }] })).toBe(2);
    await make({ url: other, type: 'cloud', traffic_policy: onRequest('forward-internal', { url }) });
    expect(await turnsWithout({ actions: [{ type: 'forward-internal', config: { url: other } }] })).toBe(0);
  });
});

describe('a pool has no place for', () => {
  const refused = (number: number) => ({
    status: 409,
    body: { error_code: expect.stringMatching(new RegExp(`_${number}$`)) },
  });

  test('who does not ask for it', async () => {
    const [shared, alone] = [internalUrl('https'), internalUrl('https')];
    await make(pooled(shared, say('shared')));
    const own = await make({ url: alone, type: 'cloud', traffic_policy: say('alone') });
    expect(await call('POST', '/endpoints', { url: shared })).toMatchObject(refused(18017));
    expect(await call('POST', '/endpoints', pooled(alone, ''))).toMatchObject(refused(18016));
    const agent = await newAgent();
    for (const [url, pooling] of [
      [shared, false],
      [alone, true],
    ] as const)
      expect(
        codeOf(await agent.bind('', { Proto: 'https', Opts: { URL: url }, Extra: { PoolingEnabled: pooling } })),
      ).toBe(381);
    expect((await call('PATCH', `/endpoints/${own}`, { pooling_enabled: true })).body.pooling_enabled).toBe(true);
    await join(agent, alone);
    expect(await call('PATCH', `/endpoints/${own}`, { pooling_enabled: false })).toMatchObject(refused(18017));
    expect((await call('GET', `/endpoints/${own}`)).body.pooling_enabled).toBe(true);
  });

  test('an agent of another scheme at the same name, nor an endpoint beside one that is alone', async () => {
    const name = await reserved();
    await make(pooled(`https://${name}`, say('https')));
    const agent = await newAgent();
    const wrong = { Proto: 'tls', Opts: { URL: `tls://${name}` }, Extra: { PoolingEnabled: true } };
    expect(codeOf(await agent.bind('', wrong))).toBe(381);
    expect(await call('POST', '/endpoints', pooled(`tls://${name}`, ''))).toMatchObject(refused(18016));
    const taken = await reserved();
    expect((await agent.bind(taken)).Error).toBe('');
    expect(await call('POST', '/endpoints', pooled(`http://${taken}`, ''))).toMatchObject(refused(18016));
  });
});

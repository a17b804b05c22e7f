// What the agent listener grants to strangers, and to the agents of one account, and which other addresses it names to them.
// Real TLS, raw frames.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ErrorCode, type MuxStream, noopStreamEvents, openTypedStream, StreamType } from '../../src/protocol/index.ts';
import { newCredential, strangeToken, type TestCredential } from '../support/agents/live.ts';
import { codeOf, dial, type RawAgent, rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { samples } from '../support/load/metrics.ts';
import { visit } from '../support/visit.ts';

const MAX_AGENTS = 400;
/** Of those that say nothing: a half of all, and a quarter of one address. */
const SILENT = 200;
const SILENT_OF_ADDRESS = 100;
const SESSIONS = 3;
const PORTS = 2;
const BANNER = 'Maintenance on Sunday: <https://status.example.com>';
const ADDRESSES = ['a.example.com:4443', '127.0.0.1:4443', '[fd00::2]:4443', 'b.example.com:443', 'c.example.com:443'];

let gateway: TestGateway;
let credential: TestCredential;
beforeAll(async () => {
  gateway = await startTestGateway({
    AGENT_ADDRESSES: ADDRESSES.join(', '),
    AGENT_BANNER: BANNER,
    MAX_AGENTS: String(MAX_AGENTS),
    MAX_SESSIONS_PER_ACCOUNT: String(SESSIONS),
    MAX_TCP_PORTS_PER_ACCOUNT: String(PORTS),
  });
  credential = await newCredential(await gateway.newAccount());
});
afterAll(() => gateway?.close());

async function agentOf({ authtoken }: Pick<TestCredential, 'authtoken'>): Promise<RawAgent> {
  const agent = await rawAgent(gateway);
  expect((await agent.auth(authtoken)).Error).toBe('');
  return agent;
}
const elsewhere = async () => newCredential(await gateway.newAccount());
const bindPort = (agent: RawAgent) => agent.bind('', { Proto: 'tcp', Opts: {} });

describe('a stranger', () => {
  /** What the gateway reads of one before authentication. */
  const BYTES = 32 * 1024;
  const STREAMS = 32;
  const bindOf = (bytes: number) => `{"Proto":"http","Opts":{"TrafficPolicy":"${'x'.repeat(bytes)}"}}`;

  test.each([
    ['an authentication', StreamType.AUTH, `{"Version":["${'x'.repeat(BYTES)}`],
    ['a bind that waits', StreamType.BIND, bindOf(BYTES)],
  ])('who sends more than 32 KiB, in %s, is cut off at once', async (_, type, text) => {
    const agent = await rawAgent(gateway);
    openTypedStream(agent.mux, type, Buffer.from(text));
    expect(await agent.closed).toMatchObject({ code: ErrorCode.ENHANCE_CALM, message: expect.stringMatching(/bytes/) });
  });

  test('who sends more than 32 KiB in many binds that wait is cut off at once', async () => {
    const agent = await rawAgent(gateway);
    for (let i = 0; i < 20; i++) openTypedStream(agent.mux, StreamType.BIND, Buffer.from(bindOf(BYTES / 20)));
    expect(await agent.closed).toMatchObject({ code: ErrorCode.ENHANCE_CALM, message: expect.stringMatching(/bytes/) });
  });

  test('may have 32 streams open, as agents begin with a heartbeat and binds beside the authentication, and no more', async () => {
    const agent = await rawAgent(gateway);
    openTypedStream(agent.mux, StreamType.HEARTBEAT, Buffer.from('beat'));
    for (let i = 2; i < STREAMS; i++) openTypedStream(agent.mux, StreamType.BIND, Buffer.from('{"Proto":'));
    expect(await agent.call(StreamType.SERVER_INFO, {})).toMatchObject({ Region: '' });
    openTypedStream(agent.mux, StreamType.AUTH, Buffer.from('{"Version":'));
    openTypedStream(agent.mux, StreamType.AUTH, Buffer.from('{"Version":'));
    expect(await agent.closed).toMatchObject({
      code: ErrorCode.ENHANCE_CALM,
      message: expect.stringMatching(/streams/),
    });
  });

  test('who tries authtokens out waits for the answer to each beyond twenty; one with the right one does not wait', async () => {
    const agents = await Promise.all(Array.from({ length: 40 }, () => rawAgent(gateway)));
    const begun = performance.now();
    const seconds = () => (performance.now() - begun) / 1000;
    const refused: { code: number | undefined; after: number }[] = [];
    for (const agent of agents)
      void agent.auth(strangeToken('cr_2abcdefghijklmnopqrstuvwxyz')).then(
        (reply) => refused.push({ code: codeOf(reply), after: seconds() }),
        () => {}, // It ends with the test.
      );
    await eventually(() => expect(refused.length).toBeGreaterThanOrEqual(20), { interval: 5 });
    const free = refused.filter(({ after }) => after < 3);
    expect(free.length).toBeLessThanOrEqual(20 + seconds()); // One more in a second.
    const asked = seconds();
    await agentOf(credential);
    expect(seconds() - asked).toBeLessThan(3);
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set([107]));
  });
});

describe('connections', () => {
  async function idle(count: number, localAddress: string): Promise<{ sockets: Socket[]; closed: number[] }> {
    const [host, port] = gateway.agent.split(':');
    const closed: number[] = [];
    const sockets: Socket[] = [];
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    while (sockets.length < count) {
      const some = Array.from({ length: Math.min(100, count - sockets.length) }, (_, i) => {
        const number = sockets.length + i;
        return connect({ host, port: Number(port), localAddress })
          .on('error', () => {})
          .on('close', () => closed.push(number))
          .resume();
      });
      sockets.push(...some);
      await Promise.all(some.map((socket) => once(socket, 'connect')));
    }
    return { sockets, closed };
  }

  test('that say nothing make room for the next, the oldest first: by address, and in all; agents stay', async () => {
    const agent = await agentOf(credential);
    const name = 'stays.tunnel.localhost';
    await agent.bind(name);
    const many = await idle(SILENT_OF_ADDRESS + 3, '127.0.0.2');
    // Of those that are closed at once, it is not said in which order that is seen here.
    const closed = () => many.closed.toSorted((a, b) => a - b);
    await eventually(() => expect(closed()).toEqual([0, 1, 2]));
    // Whoever comes from elsewhere is let in while there is room in all, and then at the cost of the oldest.
    const others = await Promise.all([idle(90, '127.0.0.3'), idle(30, '127.0.0.4')]);
    await eventually(() => expect(many.closed).toHaveLength(SILENT_OF_ADDRESS + 3 + 90 + 30 - SILENT));
    expect(closed()).toEqual(many.closed.map((_, i) => i));
    expect(others.map((each) => each.closed)).toEqual([[], []]);
    const late = await agentOf(credential);
    expect(await visit(`http://${name}`, gateway.http)).toMatchObject({ status: 200 });
    for (const one of [agent, late]) expect(one.mux.isClosed).toBe(false);
    const turnedAway = (await samples(gateway.admin)).value('gateway_agent_refusals_total', {
      reason: 'too_many_connections',
    });
    expect(turnedAway).toBeGreaterThanOrEqual(many.closed.length);
  });
});

describe('an account', () => {
  test(`has at most ${SESSIONS} sessions: 90320; another has its own, and one that ends makes room`, async () => {
    const own = await elsewhere();
    const agents = await Promise.all(Array.from({ length: SESSIONS }, () => agentOf(own)));
    const further = await rawAgent(gateway);
    expect(codeOf(await further.auth(own.authtoken))).toBe(90320);
    await agentOf(await elsewhere());
    agents[0]?.close();
    await eventually(async () => expect((await further.auth(own.authtoken)).Error).toBe(''));
  });

  test(`has at most ${PORTS} TCP ports, over all its sessions: 90321; another has its own`, async () => {
    const own = await elsewhere();
    const [one, two] = [await agentOf(own), await agentOf(own)];
    const bound = await Promise.all([one, two, one, two].map(bindPort));
    expect(bound.map((reply) => codeOf(reply)).sort()).toEqual([90321, 90321, undefined, undefined]);
    expect((await bindPort(await agentOf(await elsewhere()))).Error).toBe('');
    const mine = bound.find((reply) => !reply.Error);
    const agent = bound[0] === mine || bound[2] === mine ? one : two;
    await agent.call(StreamType.UNBIND, { Id: mine?.Id });
    expect((await bindPort(one)).Error).toBe('');
  });

  test('has the ports that are kept for a lost session, and no others before it comes back for them', async () => {
    const own = await elsewhere();
    const first = await rawAgent(gateway);
    const identity = await first.auth(own.authtoken);
    const bound = [await bindPort(first), await bindPort(first)];
    first.socket.destroy();
    const second = await rawAgent(gateway);
    await second.auth(own.authtoken, { ClientId: identity.ClientId, Extra: { Cookie: identity.Extra.Cookie } });
    expect(codeOf(await bindPort(second))).toBe(90321);
    for (const { Id, Opts, Extra } of bound)
      expect(await second.bind('', { Id, Proto: 'tcp', Opts, Extra: { Token: Extra.Token } })).toMatchObject({
        Id,
        Error: '',
      });
  });
});

describe('a session', () => {
  test('has a budget for the calls under way: one beyond it is refused, and the session goes on', async () => {
    const agent = await agentOf(credential);
    const streams: MuxStream[] = [];
    const refused = new Promise<string>((resolve) => {
      const events = { ...noopStreamEvents, onData: (chunk: Buffer) => resolve(String(chunk)) };
      const unfinished = Buffer.from(`{"Proto":"${'x'.repeat(2 ** 20 - 100)}`);
      for (let i = 0; i < 8; i++) streams.push(openTypedStream(agent.mux, StreamType.BIND, unfinished, events));
    });
    expect(await refused).toContain('4194304 bytes together');
    for (const stream of streams) stream.reset();
    expect(await agent.call(StreamType.SERVER_INFO, {})).toMatchObject({ Region: '' });
  });

  test('asks for signs of life on one stream: another is refused', async () => {
    const agent = await agentOf(credential);
    const reset = new Promise<ErrorCode>((resolve) => {
      const beat = () =>
        openTypedStream(agent.mux, StreamType.HEARTBEAT, Buffer.from('beat'), {
          ...noopStreamEvents,
          onReset: resolve,
        });
      beat();
      beat();
    });
    expect(await reset).toBe(ErrorCode.REFUSED);
    expect(agent.mux.isClosed).toBe(false);
  });

  test('may present a cookie and a bind token of any characters: they are wrong, and no more', async () => {
    const agent = await rawAgent(gateway);
    const Cookie = 'é'.repeat(43); // As many as the right one has.
    expect(await agent.auth((await elsewhere()).authtoken, { ClientId: 'x', Extra: { Cookie } })).toMatchObject({
      Error: '',
    });
    const bound = await agent.bind('other-token.tunnel.localhost', { Id: 'tn_x', Extra: { Token: Cookie } });
    expect(bound).toMatchObject({ Error: '' });
  });
});

test('a TLS handshake that is broken off, or is none, ends its connection alone', async () => {
  const [host, port] = gateway.agent.split(':');
  const whole = Buffer.from('16030100050100000100', 'hex');
  for (const bytes of [Buffer.from('GET / HTTP/1.1\r\n\r\n'), whole, Buffer.alloc(20_000, 0x16), Buffer.alloc(1)]) {
    const socket = connect({ host, port: Number(port) });
    socket.on('error', () => {});
    socket.write(bytes);
    await once(socket, 'connect');
    if (bytes.length < 20) socket.resetAndDestroy();
    else await once(socket.resume(), 'close');
  }
  (await dial(gateway)).destroy();
  expect((await agentOf(credential)).mux.isClosed).toBe(false);
});

test('agents are told the addresses of all nodes, that of their own first', async () => {
  const { authtoken } = await elsewhere();
  const { Extra } = await (await rawAgent(gateway)).auth(authtoken);
  const [a, own, ...rest] = ADDRESSES.map((ServerAddr) => ({ Region: '', ServerAddr }));
  expect(Extra.ConnectAddresses).toEqual([own, a, ...rest.slice(0, 2)]);
});

test('agents are told what their users are to be told', async () => {
  const { authtoken } = await elsewhere();
  expect((await (await rawAgent(gateway)).auth(authtoken)).Extra.Banner).toBe(BANNER);
});

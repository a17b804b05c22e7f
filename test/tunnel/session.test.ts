// The agent listener and what comes to it: agents that are odd, lost, back again, or hostile. Real TLS, raw frames.

import { once } from 'node:events';
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  ErrorCode,
  Flag,
  FrameType,
  noopStreamEvents,
  openTypedStream,
  StreamType,
  writeHeader,
} from '../../src/protocol/index.ts';
import { newCredential, type TestCredential } from '../support/agents/live.ts';
import {
  codeOf,
  dial,
  type RawAgent,
  type RawAgentOptions,
  type Reply,
  rawAgent,
} from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { type Account, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace } from '../support/gateway/place.ts';
import { visit } from '../support/visit.ts';

/** Short heartbeats: what a silent agent served must be gone after both. Milliseconds. */
const INTERVAL = 300;
const TOLERANCE = 1500;
/** What the listener grants who does not say who he is; milliseconds. */
const DEADLINE = 10_000;

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
let names = 0;
/** How long a connection lasted that said nothing after its TLS handshake; milliseconds. */
let silent: Promise<number>;
beforeAll(async () => {
  gateway = await startTestGateway({
    HEARTBEAT_INTERVAL_MS: String(INTERVAL),
    HEARTBEAT_TOLERANCE_MS: String(TOLERANCE),
  });
  account = await gateway.newAccount();
  credential = await newCredential(account);
  silent = silence(await dial(gateway));
});
afterAll(() => gateway?.close());

async function silence(socket: Socket): Promise<number> {
  const start = performance.now();
  await once(socket.resume(), 'close');
  return performance.now() - start;
}

const newName = () => `session-${++names}.tunnel.localhost`;
const get = async (name: string) => (await visit(`http://${name}`, gateway.http)).status;

/** An agent that was let in. */
async function agentOf(
  { authtoken }: Pick<TestCredential, 'authtoken'> = credential,
  more?: Parameters<RawAgent['auth']>[1],
  options?: RawAgentOptions,
): Promise<RawAgent & { identity: Reply }> {
  const agent = await rawAgent(gateway, options);
  const identity = await agent.auth(authtoken, more);
  expect(identity.Error).toBe('');
  return Object.assign(agent, { identity });
}

/** What an agent says to have its session back. */
const back = ({ identity }: { identity: Reply }) => ({
  ClientId: identity.ClientId,
  Extra: { Cookie: identity.Extra.Cookie },
});

/** What it says to have a tunnel back. */
const again = ({ Id, Extra }: Reply) => ({ Id, Extra: { Token: Extra.Token } });

/** What comes of a text on a stream of a type: the answer, or the code of a reset. */
function say(agent: RawAgent, type: number, text: string): Promise<Reply | ErrorCode> {
  return new Promise((resolve) => {
    let got = '';
    const stream = openTypedStream(agent.mux, type, Buffer.from(text), {
      ...noopStreamEvents,
      onData: (chunk) => {
        got += chunk;
        stream.consumed(chunk.length);
      },
      onEnd: () => {
        stream.end();
        resolve(JSON.parse(got));
      },
      onReset: resolve,
    });
    if (stream.isClosed) resolve(ErrorCode.SESSION_CLOSED);
  });
}

async function isServing(agent: RawAgent): Promise<void> {
  const name = newName();
  const { Id, Error: error } = await agent.bind(name);
  expect(error).toBe('');
  expect(await visit(`http://${name}`, gateway.http)).toMatchObject({ status: 200, body: Id });
}

describe('authentication', () => {
  const BEFORE = { BIND: 1, UNBIND: 2, START_TUNNEL_WITH_LABEL: 7, PATCH_TUNNEL: 10 };
  test.each(Object.entries(BEFORE))(
    '%s before it is refused, and the agent can still authenticate',
    async (_, type) => {
      const agent = await rawAgent(gateway);
      const request = { Id: 'tn_x', TunnelId: 'tn_x', Proto: 'http', Opts: {}, Labels: { a: 'b' } };
      expect(codeOf(await agent.call(type, request))).toBe(90200);
      await agent.auth(credential.authtoken);
      await isServing(agent);
    },
  );

  test('a session that is not authenticated may ask for the region', async () => {
    expect(await (await rawAgent(gateway)).call(StreamType.SERVER_INFO, {})).toEqual({ Region: '' });
  });

  test('a second one is refused, and the session goes on', async () => {
    const agent = await agentOf();
    expect(codeOf(await agent.auth(credential.authtoken))).toBe(90200);
    await isServing(agent);
  });

  test('one that was refused may be made again, with a better authtoken', async () => {
    const agent = await rawAgent(gateway);
    expect(codeOf(await agent.auth('nonsense'))).toBe(105);
    expect((await agent.auth(credential.authtoken)).Error).toBe('');
  });

  test.each(['{"Extra":[]}', '{"Extra":{"AuthToken":1}}', '{"Version":"3"}', '{"ClientId":{}}'])(
    'in the form of %s is answered with an error',
    async (text) => {
      const agent = await rawAgent(gateway);
      expect(codeOf((await say(agent, StreamType.AUTH, text)) as Reply)).toBe(90200);
      expect((await agent.auth(credential.authtoken)).Error).toBe('');
    },
  );

  test('of a version that the gateway does not speak is 90212', async () => {
    const agent = await rawAgent(gateway);
    const request = { Version: ['1'], Extra: { AuthToken: credential.authtoken } };
    expect(codeOf(await agent.call(StreamType.AUTH, request))).toBe(90212);
  });
});

describe('what is not of the protocol', () => {
  test.each(['x', '[]', '"text"', '{,}', '{"Proto": 1}', '{"Opts": []}', '{"Proto":"http","Opts":{"Hostname":{}}}'])(
    'the message %s is answered with an error, and the session goes on',
    async (text) => {
      const agent = await agentOf();
      expect([90200, 90201]).toContain(codeOf((await say(agent, StreamType.BIND, text)) as Reply));
      await isServing(agent);
    },
  );

  test('a message that ends too soon, or a stream without a type, is reset', async () => {
    const agent = await agentOf();
    const lost = (bytes: string, isTyped: boolean) =>
      new Promise((resolve) => {
        const events = { ...noopStreamEvents, onReset: resolve };
        const stream = isTyped
          ? openTypedStream(agent.mux, StreamType.BIND, Buffer.from(bytes), events)
          : agent.mux.open(events);
        if (!isTyped) stream.write(Buffer.from(bytes));
        stream.end();
      });
    expect(await lost('{"Proto":', true)).toBe(ErrorCode.PROTOCOL);
    expect(await lost('\0\0', false)).toBe(ErrorCode.PROTOCOL);
    await isServing(agent);
  });

  test('a message of more than 1 MiB is refused before it is complete', async () => {
    const agent = await agentOf();
    const answer = (await say(agent, StreamType.BIND, `{"Proto":"${'x'.repeat(2 ** 20)}`)) as Reply;
    expect(answer.Error).toContain('1048576 bytes');
    await isServing(agent);
  });

  test('a message that is nested so deep that it cannot be written back leaves nothing bound', async () => {
    const [agent, name] = [await agentOf(), newName()];
    const deep = '['.repeat(400_000) + ']'.repeat(400_000);
    const answer = await say(agent, StreamType.BIND, `{"Proto":"http","Opts":{"Hostname":"${name}","x":${deep}}}`);
    expect((answer as Reply).Error).not.toBe('');
    expect(await get(name)).toBe(404);
    await isServing(agent);
  });

  test('a type of stream that is not known is reset, and the session goes on', async () => {
    const agent = await agentOf();
    for (const type of [3, 4, 5, 6, 9, 11, 77, 0xfffffffe])
      expect(await say(agent, type, '{}')).toBe(ErrorCode.REFUSED);
    await isServing(agent);
  });

  test('whatever frames an agent sends, the gateway and the sessions of others go on', {
    timeout: 30_000,
  }, async () => {
    const bystander = await agentOf();
    const other = await newCredential(await gateway.newAccount());
    const id = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.nat(0x7fffffff));
    const json = fc.json({ maxDepth: 3 });
    const member = fc.constantFrom('Id', 'Proto', 'Opts', 'Extra', 'Labels', 'Metadata', 'TunnelId', 'TrafficPolicy');
    const message = fc.dictionary(member, fc.jsonValue({ maxDepth: 2 })).map((object) => JSON.stringify(object));
    const typed = fc
      .tuple(fc.oneof(fc.nat(11), fc.constant(0xffffffff)), fc.oneof(message, json))
      .map(([type, text]) => {
        const bytes = Buffer.alloc(4 + Buffer.byteLength(text));
        bytes.writeUInt32BE(type);
        bytes.write(text, 4);
        return bytes;
      });
    const noise = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes));
    const call = fc
      .tuple(fc.integer({ min: 3, max: 400 }), typed, fc.nat(3))
      .map(([n, body, flags]) => frame(FrameType.DATA, flags | Flag.SYN, 2 * n + 1, body));
    const data = fc.tuple(fc.nat(15), id, noise).map(([flags, to, body]) => frame(FrameType.DATA, flags, to, body));
    const control = fc
      .tuple(fc.constantFrom(FrameType.RESET, FrameType.WINDOW), id, fc.uint8Array({ minLength: 4, maxLength: 4 }))
      .map(([type, to, body]) => frame(type, 0, to, Buffer.from(body)));
    const broken = fc.tuple(fc.nat(15), fc.nat(15), id, noise).map(([type, ...rest]) => frame(type, ...rest));
    const some = fc.oneof(
      { weight: 6, arbitrary: call },
      { weight: 3, arbitrary: data },
      { weight: 3, arbitrary: control },
      { weight: 1, arbitrary: broken },
      { weight: 1, arbitrary: noise },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(some, { minLength: 1, maxLength: 40 }), async (frames) => {
        const hostile = await rawAgent(gateway);
        await hostile.auth(other.authtoken);
        hostile.socket.write(Buffer.concat(frames));
        // It is asked once more: the answer, or the end of the session, comes after all that was sent is read.
        await Promise.race([hostile.call(StreamType.SERVER_INFO, {}).catch(() => {}), hostile.closed]);
        hostile.socket.destroy();
      }),
      { numRuns: 60 },
    );
    await isServing(bystander);
    expect(gateway.logs.filter((line) => line.includes('unexpected'))).toEqual([]);
  });
});

function frame(type: number, flags: number, id: number, body: Buffer): Buffer {
  const bytes = Buffer.alloc(8 + body.length);
  writeHeader(bytes, 0, (type << 4) | flags, body.length, id);
  body.copy(bytes, 8);
  return bytes;
}

describe('coming back', () => {
  test('with its cookie an agent is the one it was, and its session before ends at once', async () => {
    const first = await agentOf();
    const second = await agentOf(credential, back(first));
    expect(second.identity.ClientId).toBe(first.identity.ClientId);
    expect((await first.closed).message).toBe('replaced by a new session');
    await isServing(second);
  });

  test('with another authtoken of its account, too; the old credential can then be deleted', async () => {
    const old = await newCredential(account);
    const first = await agentOf(old);
    const bound = await first.bind(newName());
    const second = await agentOf(credential, back(first));
    expect(second.identity.ClientId).toBe(first.identity.ClientId);
    await first.closed;
    await account.call('DELETE', `/credentials/${old.credentialId}`);
    const { Opts } = bound;
    expect(await second.bind('', { ...again(bound), Opts })).toMatchObject({ Id: bound.Id, Error: '' });
  });

  test('with a forged cookie, or in another account, it is another, and nobody’s session ends', async () => {
    const first = await agentOf();
    const stranger = await newCredential(await gateway.newAccount());
    for (const [who, cookie] of [
      [credential, `${first.identity.Extra.Cookie.slice(0, -1)}_`],
      [credential, ''],
      [stranger, first.identity.Extra.Cookie],
    ] as const) {
      const { identity } = await agentOf(who, { ClientId: first.identity.ClientId, Extra: { Cookie: cookie } });
      expect(identity.ClientId).not.toBe(first.identity.ClientId);
    }
    await isServing(first);
  });

  test('a tunnel has its id again with its bind token, and another id with a forged one', async () => {
    const [first, name] = [await agentOf(), newName()];
    const bound = await first.bind(name);
    first.socket.destroy();
    const second = await agentOf(credential, back(first));
    const forged = await second.bind(name, { Id: bound.Id, Extra: { Token: `${bound.Extra.Token}x` } });
    expect(forged).toMatchObject({ Error: '', Id: expect.not.stringMatching(bound.Id) });
    await second.call(StreamType.UNBIND, { Id: forged.Id });
    expect(await second.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id });
  });

  test('what it had is nobody else’s between the end of the old session and the new bind', async () => {
    const [first, name] = [await agentOf(), newName()];
    const bound = await first.bind(name);
    const tcp = await first.bind('', { Proto: 'tcp', Opts: {} });
    const second = await agentOf(credential, back(first));
    await first.closed;
    const other = await agentOf(await newCredential(account));
    expect(codeOf(await other.bind(name))).toBe(334);
    expect(codeOf(await other.bind('', { Proto: 'tcp', Opts: { Addr: tcp.Opts.Addr } }))).toBe(334);
    expect(await second.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id });
  });

  test('an agent that says good-bye frees its names at once', async () => {
    const [first, name] = [await agentOf(), newName()];
    await first.bind(name);
    first.close();
    const other = await agentOf(await newCredential(account));
    await eventually(async () => expect((await other.bind(name)).Error).toBe(''));
  });

  test('of several that come back at once one stays, and it can serve', async () => {
    const first = await agentOf();
    const all = await Promise.all(Array.from({ length: 6 }, () => agentOf(credential, back(first))));
    await eventually(() => expect(all.filter(({ mux }) => !mux.isClosed)).toHaveLength(1));
    await isServing(all.find(({ mux }) => !mux.isClosed) as RawAgent);
  });

  test('a tunnel that is bound once more in its own session is served once', async () => {
    const [agent, name] = [await agentOf(), newName()];
    const bound = await agent.bind(name);
    for (let i = 0; i < 3; i++) expect(await agent.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id });
    expect(await get(name)).toBe(200);
    await agent.call(StreamType.UNBIND, { Id: bound.Id });
    expect(await get(name)).toBe(404);
  });
});

describe('limits', () => {
  const LONG = 'ü'.repeat(2048);
  test('metadata of a session or a tunnel has at most 4096 bytes, and no NUL', async () => {
    const agent = await agentOf(credential, { Extra: { Metadata: LONG } });
    const meta = (Metadata: string) => agent.bind(newName(), { Extra: { Metadata } });
    const labelled = (Metadata: string) =>
      agent.call(StreamType.START_TUNNEL_WITH_LABEL, { Labels: { a: 'b' }, Metadata });
    expect((await meta(LONG)).Error).toBe('');
    expect((await labelled(LONG)).Error).toBe('');
    for (const text of [`${LONG}x`, 'a\0b']) {
      expect(codeOf(await (await rawAgent(gateway)).auth(credential.authtoken, { Extra: { Metadata: text } }))).toBe(
        90211,
      );
      expect(codeOf(await meta(text))).toBe(90211);
      expect(codeOf(await labelled(text))).toBe(90211);
    }
  });

  test.each([
    ['a NUL', { 'a\0': 'b' }],
    ['a NUL in a value', { a: 'b\0' }],
    ['half a character', { a: '\ud800' }],
    ['half a character as its key', { '\udc00': 'b' }],
    ['no characters', { '': 'b' }],
    ['more than 255 bytes', { a: 'x'.repeat(256) }],
  ])('a label of %s is refused: 90211', async (_, Labels) => {
    const agent = await agentOf();
    expect(codeOf(await agent.call(StreamType.START_TUNNEL_WITH_LABEL, { Labels }))).toBe(90211);
  });
});

describe('the end', () => {
  test('an agent that is silent is gone after interval and tolerance, and with it what it served', async () => {
    const own = await gateway.newAccount();
    const agent = await agentOf(await newCredential(own), undefined, { mute: true });
    const start = performance.now();
    await agent.bind(newName());
    expect((await own.call('GET', '/endpoints')).body.endpoints).toHaveLength(1);
    await agent.closed;
    await eventually(async () => expect((await own.call('GET', '/endpoints')).body.endpoints).toEqual([]));
    expect((await own.call('GET', '/tunnel_sessions')).body.tunnel_sessions).toEqual([]);
    expect(performance.now() - start).toBeLessThan(INTERVAL + TOLERANCE + 1000);
  });

  test('an agent that breaks off the heartbeats is gone, too', async () => {
    const agent = await agentOf(credential, undefined, { mute: true, onStream: (stream) => stream.reset() });
    expect((await agent.closed).code).toBe(ErrorCode.PROTOCOL);
  });

  test('an edit of the ACL stops exactly what it no longer allows, for visitors who are in as well', async () => {
    const own = await newCredential(account);
    const agent = await agentOf(own);
    const [kept, denied] = [newName(), newName()];
    const label = (value: string) => agent.call(StreamType.START_TUNNEL_WITH_LABEL, { Labels: { door: value } });
    const bound = {
      kept: await agent.bind(kept),
      denied: await agent.bind(denied),
      tcp: await agent.bind('', { Proto: 'tcp', Opts: {} }),
      keptLabel: await label('front'),
      deniedLabel: await label('back'),
    };
    const visitor = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => visitor.destroy());
    const goOn = (name: string) => visit(`http://${name}`, gateway.http, { agent: visitor });
    expect([(await goOn(kept)).status, (await goOn(denied)).status]).toEqual([200, 200]);

    await account.call('PATCH', `/credentials/${own.credentialId}`, { acl: [`bind:${kept}`, 'bind:door=front'] });
    await eventually(() => expect(agent.asked).toHaveLength(3));
    const told = agent.asked.map(({ type, request }) => [type, request.Id, codeOf({ Error: request.ErrorCode })]);
    const { STOP_TUNNEL } = StreamType;
    expect(told.sort()).toEqual(
      [
        [STOP_TUNNEL, bound.denied.Id, 316],
        [STOP_TUNNEL, bound.tcp.Id, 308],
        [STOP_TUNNEL, bound.deniedLabel.Id, 399],
      ].sort(),
    );
    await eventually(async () => {
      const { body } = await account.call('GET', '/tunnels');
      const ids = body.tunnels.map(({ id }: { id: string }) => id);
      expect(Object.values(bound).filter(({ Id }) => ids.includes(Id))).toEqual([bound.kept, bound.keptLabel]);
    });
    expect([(await goOn(kept)).status, (await goOn(denied)).status]).toEqual([200, 404]);
    expect(codeOf(await agent.bind(denied, again(bound.denied)))).toBe(316);
  });

  test('an owner who is no longer active has no sessions any more', async () => {
    const { body: bot } = await account.call('POST', '/bot_users', { name: 'a door' });
    const agent = await agentOf(await newCredential(account, { owner_id: bot.id }));
    const bystander = await agentOf();
    await account.call('PATCH', `/bot_users/${bot.id}`, { active: false });
    expect((await agent.closed).message).toBe('the credential was revoked');
    await isServing(bystander);
  });

  test('a gateway that is stopped keeps the names of its agents for them', async () => {
    const place = await newPlace();
    onTestFinished(() => place.remove());
    let own = await startTestGateway({}, { place });
    onTestFinished(() => own.close());
    const token = String(own.first?.authtoken);
    const [agent, name] = [await rawAgent(own), newName()];
    const identity = await agent.auth(token);
    const bound = await agent.bind(name);
    await own.close();
    expect((await agent.closed).message).toBe('the gateway is stopping');
    own = await startTestGateway({}, { place });
    const other = await rawAgent(own);
    await other.auth((await newCredential(own)).authtoken);
    expect(codeOf(await other.bind(name))).toBe(334);
    const same = await rawAgent(own);
    expect((await same.auth(token, back({ identity }))).ClientId).toBe(identity.ClientId);
    expect(await same.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id });
  });

  // The database is busy with them for a while: it comes where there is something to wait for anyway.
  test('a session has at most 1,000 tunnels, counting those that are being opened', async () => {
    const agent = await agentOf();
    const open = () => agent.call(StreamType.START_TUNNEL_WITH_LABEL, { Labels: { a: 'b' } });
    const first = Array.from({ length: 1000 }, () => open().catch(() => {}));
    expect(codeOf(await open())).toBe(90210);
    agent.close();
    await Promise.all(first);
  });

  test('who does not authenticate is cut off after ten seconds', async () => {
    const lasted = await silent;
    expect(lasted).toBeGreaterThan(DEADLINE - 500);
    expect(lasted).toBeLessThan(DEADLINE + 3000);
  });
});

// Sessions of agents: authentication, malformed messages and frames, and the limits of texts. Real TLS, raw frames.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ErrorCode,
  Flag,
  FrameType,
  noopStreamEvents,
  openTypedStream,
  StreamType,
  writeHeader,
} from '../../src/protocol/index.ts';
import { newCredential } from '../support/agents/live.ts';
import { codeOf, type RawAgent, type Reply, rawAgent } from '../support/agents/raw-agent.ts';
import { shortened } from '../support/shortened.ts';
import { rawAgents, say } from './raw-agents.ts';

const lab = rawAgents('session-protocol');
const { newName, get, agentOf, isServing } = lab;

describe('authentication', () => {
  const BEFORE = { UNBIND: 2, PATCH_TUNNEL: 10 };
  test.each(Object.entries(BEFORE))(
    '%s before it is refused, and the agent can still authenticate',
    async (_, type) => {
      const agent = await rawAgent(lab.gateway);
      const request = { Id: 'tn_x', TunnelId: 'tn_x', Proto: 'http', Opts: {}, Labels: { a: 'b' } };
      expect(codeOf(await agent.call(type, request))).toBe(90200);
      await agent.auth(lab.credential.authtoken);
      await isServing(agent);
    },
  );

  /** As agents with several threads do: whichever frame is ready goes first. */
  const early = (agent: RawAgent) => {
    const name = newName();
    const labels = { Labels: { early: name } };
    return { name, bound: [agent.bind(name), agent.call(StreamType.START_TUNNEL_WITH_LABEL, labels)] };
  };

  test('binds that come before it, or while it is answered, wait for it and are answered then', async () => {
    const agent = await rawAgent(lab.gateway);
    const before = early(agent);
    await agent.call(StreamType.SERVER_INFO, {}); // What came before is read.
    const identity = agent.auth(lab.credential.authtoken);
    const beside = early(agent);
    const answers = await Promise.all([identity, ...before.bound, ...beside.bound]);
    expect(answers.map((answer) => answer.Error)).toEqual(['', '', '', '', '']);
    for (const { name } of [before, beside]) expect(await get(name)).toBe(200);
  });

  test('binds before one that is refused are refused for the same reason, and later ones wait for the next', async () => {
    const agent = await rawAgent(lab.gateway);
    const [first, identity] = [early(agent), agent.auth('nonsense')];
    const second = early(agent);
    const refused = await Promise.all([...first.bound, identity, ...second.bound]);
    expect(refused.map(codeOf)).toEqual([105, 105, 105, 105, 105]);
    const third = early(agent);
    expect((await agent.auth(lab.credential.authtoken)).Error).toBe('');
    expect((await Promise.all(third.bound)).map((answer) => answer.Error)).toEqual(['', '']);
    expect([await get(first.name), await get(third.name)]).toEqual([404, 200]);
  });

  test('a session that is not authenticated may ask for the region', async () => {
    expect(await (await rawAgent(lab.gateway)).call(StreamType.SERVER_INFO, {})).toMatchObject({ Region: '' });
  });

  test('its answer names the session as the API does, the account, and the plan, which SDKs show', async () => {
    const own = await lab.gateway.newAccount();
    const { identity } = await agentOf(await newCredential(own));
    const [session] = (await own.call('GET', '/tunnel_sessions')).body.tunnel_sessions;
    expect(identity.Extra).toMatchObject({
      AgentSessionID: session.id,
      AccountName: own.accountId,
      PlanName: 'self-hosted',
      Region: session.region,
      Banner: '',
    });
    expect((await own.call('POST', `/tunnel_sessions/${identity.Extra.AgentSessionID}/stop`)).status).toBe(409);
  });

  test('a second one is refused, and the session goes on', async () => {
    const agent = await agentOf();
    expect(codeOf(await agent.auth(lab.credential.authtoken))).toBe(90200);
    await isServing(agent);
  });

  test('one that was refused may be made again, with a better authtoken', async () => {
    const agent = await rawAgent(lab.gateway);
    expect(codeOf(await agent.auth('nonsense'))).toBe(105);
    expect((await agent.auth(lab.credential.authtoken)).Error).toBe('');
  });

  test.each(['{"Extra":[]}', '{"Extra":{"AuthToken":1}}', '{"Version":"3"}', '{"ClientId":{}}'])(
    'in the form of %s is answered with an error',
    async (text) => {
      const agent = await rawAgent(lab.gateway);
      expect(codeOf((await say(agent, StreamType.AUTH, text)) as Reply)).toBe(90200);
      expect((await agent.auth(lab.credential.authtoken)).Error).toBe('');
    },
  );

  test('of a version that the gateway does not speak is 90212', async () => {
    const agent = await rawAgent(lab.gateway);
    const request = { Version: ['1'], Extra: { AuthToken: lab.credential.authtoken } };
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
    const other = await newCredential(await lab.gateway.newAccount());
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
        const hostile = await rawAgent(lab.gateway);
        await hostile.auth(other.authtoken);
        hostile.socket.write(Buffer.concat(frames));
        // It is asked once more: the answer, or the end of the session, comes after all that was sent is read.
        await Promise.race([hostile.call(StreamType.SERVER_INFO, {}).catch(() => {}), hostile.closed]);
        hostile.socket.destroy();
      }),
      { numRuns: Math.max(...shortened([15, 60])) },
    );
    await isServing(bystander);
    expect(lab.gateway.logs.filter((line) => line.includes('unexpected'))).toEqual([]);
  });
});

function frame(type: number, flags: number, id: number, body: Buffer): Buffer {
  const bytes = Buffer.alloc(8 + body.length);
  writeHeader(bytes, 0, (type << 4) | flags, body.length, id);
  body.copy(bytes, 8);
  return bytes;
}

test('an agent may say that it rewrites the host header, which the gateway then leaves to it', async () => {
  const [agent, name] = [await agentOf(), newName()];
  const bound = await agent.bind('', { Opts: { Hostname: name, HostHeaderRewrite: true } });
  expect(bound).toMatchObject({ Error: '', Opts: { Hostname: name, HostHeaderRewrite: true } });
  expect(await get(name)).toBe(200);
});

describe('limits', () => {
  const LONG = 'ü'.repeat(2048);
  test('metadata of a session or a tunnel has at most 4096 bytes, and no NUL', async () => {
    const agent = await agentOf(lab.credential, { Extra: { Metadata: LONG } });
    const meta = (Metadata: string) => agent.bind(newName(), { Extra: { Metadata } });
    const labelled = (Metadata: string) =>
      agent.call(StreamType.START_TUNNEL_WITH_LABEL, { Labels: { a: 'b' }, Metadata });
    expect((await meta(LONG)).Error).toBe('');
    expect((await labelled(LONG)).Error).toBe('');
    for (const text of [`${LONG}x`, 'a\0b']) {
      expect(
        codeOf(await (await rawAgent(lab.gateway)).auth(lab.credential.authtoken, { Extra: { Metadata: text } })),
      ).toBe(90211);
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

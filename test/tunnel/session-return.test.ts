// Agents that return: which session and which tunnels they get again. Real TLS, raw frames.

import { describe, expect, test } from 'vitest';
import { StreamType } from '../../src/protocol/index.ts';
import { newCredential } from '../support/agents/live.ts';
import { codeOf, type RawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { again, back, rawAgents } from './raw-agents.ts';

const lab = rawAgents('session-return');
const { newName, get, agentOf, isServing } = lab;

describe('coming back', () => {
  test('with its cookie an agent is the one it was, and its session before ends at once', async () => {
    const first = await agentOf();
    const second = await agentOf(lab.credential, back(first));
    expect(second.identity.ClientId).toBe(first.identity.ClientId);
    expect((await first.closed).message).toMatch(/^replaced by a new session from 127\.0\.0\.1/);
    await isServing(second);
  });

  test('with another authtoken of its account, too; the old credential can then be deleted', async () => {
    const old = await newCredential(lab.account);
    const first = await agentOf(old);
    const bound = await first.bind(newName());
    const second = await agentOf(lab.credential, back(first));
    expect(second.identity.ClientId).toBe(first.identity.ClientId);
    await first.closed;
    await lab.account.call('DELETE', `/credentials/${old.credentialId}`);
    const { Opts } = bound;
    expect(await second.bind('', { ...again(bound), Opts })).toMatchObject({ Id: bound.Id, Error: '' });
  });

  test('with a forged cookie, or in another account, it is another, and nobody’s session ends', async () => {
    const first = await agentOf();
    const stranger = await newCredential(await lab.gateway.newAccount());
    for (const [who, cookie] of [
      [lab.credential, `${first.identity.Extra.Cookie.slice(0, -1)}_`],
      [lab.credential, ''],
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
    const second = await agentOf(lab.credential, back(first));
    const forged = await second.bind(name, { Id: bound.Id, Extra: { Token: `${bound.Extra.Token}x` } });
    expect(forged).toMatchObject({ Error: '', Id: expect.not.stringMatching(bound.Id) });
    await second.call(StreamType.UNBIND, { Id: forged.Id });
    expect(await second.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id });
  });

  test.each([
    ['http', {}],
    ['https', {}],
    ['tls', {}],
    ['tcp', {}],
    ['https', { Name: 'by an SDK that names the endpoint' }],
  ])(
    'a %s address that was drawn for a URL without a host comes back with the options of the answer',
    async (Proto, Extra) => {
      const first = await agentOf();
      const bound = await first.bind('', { Proto, Opts: { URL: `${Proto}://` }, Extra });
      expect(bound).toMatchObject({ Error: '', Opts: { URL: `${Proto}://` } });
      first.socket.destroy();
      const second = await agentOf(lab.credential, back(first));
      const { Opts, URL } = bound;
      expect(await second.bind('', { ...again(bound), Proto, Opts })).toMatchObject({ Error: '', Id: bound.Id, URL });
    },
  );

  test('a URL with a host wins over the other ways to ask for a name', async () => {
    const [agent, URL, Hostname] = [await agentOf(), newName(), newName()];
    const bound = await agent.bind('', { Proto: 'https', Opts: { URL: `https://${URL}/`, Hostname } });
    expect(bound.Opts.Hostname).toBe(URL);
  });

  test('what it had is nobody else’s between the end of the old session and the new bind', async () => {
    const [first, name] = [await agentOf(), newName()];
    const bound = await first.bind(name);
    const tcp = await first.bind('', { Proto: 'tcp', Opts: {} });
    const second = await agentOf(lab.credential, back(first));
    await first.closed;
    const other = await agentOf(await newCredential(lab.account));
    expect(codeOf(await other.bind(name))).toBe(334);
    expect(codeOf(await other.bind('', { Proto: 'tcp', Opts: { Addr: tcp.Opts.Addr } }))).toBe(334);
    expect(await second.bind(name, again(bound))).toMatchObject({ Error: '', Id: bound.Id });
  });

  test('an agent that says good-bye frees its names at once', async () => {
    const [first, name] = [await agentOf(), newName()];
    await first.bind(name);
    first.close();
    const other = await agentOf(await newCredential(lab.account));
    await eventually(async () => expect((await other.bind(name)).Error).toBe(''));
  });

  test('of several that come back at once one stays, and it can serve', async () => {
    const first = await agentOf();
    const all = await Promise.all(Array.from({ length: 6 }, () => agentOf(lab.credential, back(first))));
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

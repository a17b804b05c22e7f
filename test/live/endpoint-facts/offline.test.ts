import { describe, expect, onTestFinished, test } from 'vitest';
import { ErrorCode, StreamType } from '../../../src/protocol/index.ts';
import { newCredential } from '../../support/agents/live.ts';
import { rawAgent } from '../../support/agents/raw-agent.ts';
import { startTestGateway } from '../../support/gateway/gateway.ts';
import { newPlace } from '../../support/gateway/place.ts';
import { done, newName } from '../edges/support.ts';
import { account, ask, endpointAt, gateway, until, useGateway } from './setup.ts';

useGateway();

test('what agents served when the gateway was stopped is offline until they are back', async () => {
  const place = await newPlace();
  onTestFinished(() => place.remove());
  const before = await startTestGateway({}, { place });
  onTestFinished(() => before.close());
  const { authtoken } = await newCredential(before);
  const agent = await rawAgent(before);
  await agent.auth(authtoken);
  await agent.bind('stopped.tunnel.localhost');
  await before.close();
  const after = await startTestGateway({}, { place });
  onTestFinished(() => after.close());
  const list = () => ask('{ offlineEndpoints { nodes { publicUrl reason heldUntil } } }', {}, after);
  expect((await list()).offlineEndpoints.nodes).toMatchObject([
    {
      publicUrl: expect.stringContaining('stopped.'),
      reason: 'the gateway is stopping',
      heldUntil: expect.any(String),
    },
  ]);
  const again = await rawAgent(after);
  await again.auth(authtoken);
  await again.bind('stopped.tunnel.localhost');
  expect(await list()).toEqual({ offlineEndpoints: { nodes: [] } });
});

describe('an agent that goes leaves its address in the list of those that are offline', () => {
  const offline = async (name: string) => {
    const { offlineEndpoints } = await ask('{ offlineEndpoints { nodes { hostport reason heldUntil } } }');
    // biome-ignore lint/suspicious/noExplicitAny: likewise.
    return offlineEndpoints.nodes.find((each: any) => each.hostport.startsWith(`${name}:`));
  };

  async function serving(mute = false, Extra = {}) {
    const name = newName('facts');
    const own = await newCredential(account);
    const agent = await rawAgent(gateway, { mute });
    await agent.auth(own.authtoken, { Extra });
    const { Id } = await agent.bind(name);
    return { agent, name, id: Id as string, own };
  }

  test('with a good-bye', async () => {
    const { agent, name } = await serving();
    agent.mux.close(ErrorCode.NONE);
    await until(async () =>
      expect(await offline(name)).toMatchObject({ reason: 'the agent said good-bye', heldUntil: null }),
    );
  });

  test('because somebody stopped it through the API', async () => {
    const { agent, name } = await serving(false, { StopUnsupportedError: '' });
    const { tunnelSession } = await endpointAt(name);
    await ask('mutation ($id: ID!) { stopTunnelSession(id: $id) { tunnelSessionId } }', { id: tunnelSession.id });
    agent.mux.close(ErrorCode.NONE);
    await until(async () => expect(await offline(name)).toMatchObject({ reason: 'it was stopped through the API' }));
  });

  test('without a word', async () => {
    const { name } = await serving(true);
    await until(async () =>
      expect(await offline(name)).toMatchObject({
        reason: 'no sign of life for 2000 ms',
        heldUntil: expect.stringMatching(/Z$/),
      }),
    );
  }, 10_000);

  test('because its connection broke', async () => {
    const { agent, name } = await serving();
    agent.socket.destroy();
    await until(async () => expect((await offline(name))?.heldUntil).toMatch(/Z$/));
    expect((await offline(name)).reason).not.toBe('');
  });

  test('because it closed the tunnel', async () => {
    const { agent, name, id } = await serving();
    await agent.call(StreamType.UNBIND, { Id: id });
    expect(await offline(name)).toMatchObject({ reason: 'the agent closed it', heldUntil: null });
  });

  test('because its credential may not serve it any more', async () => {
    const { name, own } = await serving();
    await done(account, 'PATCH', `/credentials/${own.credentialId}`, { acl: ['bind:elsewhere.tunnel.localhost'] });
    await until(async () => expect((await offline(name))?.reason).toContain(name));
  });

  test('because its credential was deleted', async () => {
    const { name, own } = await serving();
    await account.call('DELETE', `/credentials/${own.credentialId}`);
    await until(async () =>
      expect(await offline(name)).toMatchObject({ reason: 'the credential was revoked', heldUntil: null }),
    );
  });
});

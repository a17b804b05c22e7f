// The fleet with real agents: devices that are provisioned by a key, authtokens that are replaced, and commands to many.

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newCredential } from '../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { type LocalAgent, newDirectory, startLocal } from './agents.ts';

const DEVICE_FILE = 'tunnels.device.json';

let gateway: TestGateway;
let account: Account;
const cleanups: (() => unknown)[] = [];
beforeAll(async () => {
  gateway = await sharedGateway();
});
beforeEach(async () => {
  account = await gateway.newAccount();
});
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

function newPlace(): string {
  const { path, remove } = newDirectory();
  cleanups.push(remove);
  return path;
}

async function start(env: Record<string, string>, place = newPlace()): Promise<LocalAgent> {
  const ca = join(place, 'ca.pem');
  writeFileSync(ca, gateway.ca);
  const settings = { GATEWAY_ADDR: gateway.agent, GATEWAY_CA: ca, LEGS: '1', ...env };
  const agent = await startLocal(place, settings);
  cleanups.push(() => agent.close());
  return agent;
}

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer, the test says.
async function ask(query: string, variables: object = {}): Promise<any> {
  const { body } = await account.graphql(query, variables);
  expect(body.errors).toBeUndefined();
  return body.data;
}

// biome-ignore lint/suspicious/noExplicitAny: likewise.
const list = async (fields: string): Promise<any[]> =>
  (await ask(`{ agents(first: 10) { nodes { ${fields} } } }`)).agents.nodes;
const online = async (count: number) =>
  expect
    .poll(async () => (await list('online')).filter((agent) => agent.online).length, { timeout: 15_000 })
    .toBe(count);

async function newKey(input: object = {}): Promise<{ id: string; token: string }> {
  const query =
    'mutation ($input: CreateProvisioningKeyInput!) { createProvisioningKey(input: $input) { provisioningKey { id } token } }';
  const { provisioningKey, token } = (await ask(query, { input })).createProvisioningKey;
  return { ...provisioningKey, token };
}

const provisioned = (token: string) => ({
  ...{ TUNNEL_AUTHTOKEN: '', TUNNEL_PROVISIONING_KEY: token, GATEWAY_API: gateway.api, AGENT_NAME: 'press-7' },
});
const usesOf = async (id: string) =>
  (await ask('query ($id: ID!) { provisioningKey(id: $id) { uses } }', { id })).provisioningKey.uses;

describe('a device with a provisioning key', () => {
  test('gets a credential of its own, keeps it, and needs the key no more', async () => {
    const key = await newKey({ acl: ['bind:{name}.tunnel.localhost'], labels: { site: 'berlin' }, usesMax: 1 });
    const place = newPlace();
    const first = await start({ ...provisioned(key.token), AGENT_LABELS: 'floor=2,site=claimed' }, place);
    await online(1);
    const [agent] = await list('id name labels credential { id } accepts refuses { command reason }');
    expect(agent).toMatchObject({
      ...{ name: 'press-7', labels: { site: 'berlin', floor: '2' }, accepts: ['RESTART', 'STOP'] },
      refuses: [{ command: 'UPDATE', reason: expect.stringContaining('does not replace its own program') }],
    });
    const file = join(place, DEVICE_FILE);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain(key.token);
    await first.close();
    await online(0);
    await start({ TUNNEL_AUTHTOKEN: '' }, place);
    await online(1);
    expect(await list('id credential { id }')).toEqual([{ id: agent.id, credential: agent.credential }]);
    expect(await usesOf(key.id)).toBe(1);
  });

  test('gets another credential by itself when its own is deleted', async () => {
    const key = await newKey({ usesMax: 2 });
    const agent = await start(provisioned(key.token));
    await online(1);
    const [before] = await list('id credential { id }');
    await account.call('DELETE', `/credentials/${before.credential.id}`);
    await agent.log.find(/is not valid any more, and another one is asked for/);
    await expect
      .poll(async () => (await list('credential { id } online')).filter((each) => each.online), { timeout: 15_000 })
      .toEqual([{ online: true, credential: { id: expect.not.stringContaining(before.credential.id) } }]);
    expect((await list('id')).map(({ id }) => id)).toEqual([before.id]);
  });

  test('that died before it kept its credential gets it anew, and is counted once', async () => {
    const key = await newKey({ usesMax: 1 });
    const place = newPlace();
    const deviceId = 'died-between-0123456789';
    writeFileSync(join(place, DEVICE_FILE), JSON.stringify({ id: deviceId, authtoken: null }));
    const query = `mutation ($input: ExchangeProvisioningKeyInput!) {
      exchangeProvisioningKey(input: $input) { credentialId } }`;
    const lost = await ask(query, { input: { provisioningKey: key.token, deviceId } });
    await start(provisioned(key.token), place);
    await online(1);
    expect(await list('credential { id }')).toEqual([
      { credential: { id: lost.exchangeProvisioningKey.credentialId } },
    ]);
    expect(await usesOf(key.id)).toBe(1);
  });

  test('that is refused says why, and asks again', async () => {
    const key = await newKey();
    await ask('mutation ($id: ID!) { revokeProvisioningKey(id: $id) { provisioningKey { id } } }', key);
    const agent = await start(provisioned(key.token));
    expect(await agent.log.find(/provisioning key was not taken/)).toContain('was revoked');
    const { body } = await agent.ask('GET', '/status');
    expect(JSON.stringify(body)).toContain('refused');
  });
});

test('sessions with the authtoken before end with the reason when its replacement is over', async () => {
  const credential = await newCredential(account);
  await start({ TUNNEL_AUTHTOKEN: credential.authtoken, AGENT_NAME: 'old' });
  await online(1);
  const rotate = 'mutation ($id: ID!) { rotateCredential(id: $id, overlapSeconds: 2) { token } }';
  const { token } = (await ask(rotate, { id: credential.credentialId })).rotateCredential;
  await start({ TUNNEL_AUTHTOKEN: token, AGENT_NAME: 'new' });
  await online(2);
  await online(1);
  expect(await list('name online pastSessions { reason }')).toEqual([
    { name: 'new', online: true, pastSessions: [] },
    { name: 'old', online: false, pastSessions: [{ reason: 'the authtoken was replaced by a new one' }] },
  ]);
});

test('a command over a selection tells what became of each agent, and who told them is kept', {
  timeout: 90_000,
}, async () => {
  const { authtoken } = await newCredential(account);
  const env = { TUNNEL_AUTHTOKEN: authtoken, AGENT_LABELS: 'site=berlin' };
  const agents = [await start({ ...env, AGENT_NAME: 'a' }), await start({ ...env, AGENT_NAME: 'b' })];
  const gone = await start({ ...env, AGENT_NAME: 'c' });
  await start({ ...env, AGENT_NAME: 'd', AGENT_LABELS: 'site=paris' });
  await online(4);
  await gone.close();
  await online(3);
  const command = async (input: object) =>
    (
      await ask(
        'mutation ($input: CommandAgentsInput!) { commandAgents(input: $input) { results { agent { name } outcome reason } } }',
        { input },
      )
    ).commandAgents.results.map(
      ({ agent, outcome, reason }: { agent: { name: string } | null; outcome: string; reason: string }) => [
        agent?.name,
        ...[outcome, reason],
      ],
    );
  const reason = expect.stringContaining('does not replace its own program');
  const selected = { label: 'site=berlin' };
  expect((await command({ ...selected, command: 'UPDATE' })).sort()).toEqual([
    ['a', 'REFUSED', reason],
    ['b', 'REFUSED', reason],
    ['c', 'REFUSED', reason],
  ]);
  expect((await command({ ...selected, command: 'RESTART' })).sort()).toEqual([
    ['a', 'DONE', null],
    ['b', 'DONE', null],
    ['c', 'OFFLINE', null],
  ]);
  const ends = Promise.all(agents.map(({ ended }) => ended));
  expect(await ends).toEqual(['restart', 'restart']);
  for (const agent of agents) await agent.close();
  await online(1);
  for (const { name, pastSessions } of await list('name pastSessions(first: 1) { reason }'))
    if (name === 'a' || name === 'b') expect(pastSessions[0].reason).toContain('start anew through the API');
  const audit = '{ auditEntries(kind: "agent") { nodes { action objectName } } }';
  expect((await ask(audit)).auditEntries.nodes).toEqual(
    expect.arrayContaining(['a', 'b'].map((objectName) => ({ action: 'AGENT_RESTARTED', objectName }))),
  );
  const [known] = await list('id');
  const unknown = `agt_${'0'.repeat(27)}`;
  expect(await command({ ids: [known.id, unknown], command: 'STOP' })).toEqual([
    ['d', 'DONE', null],
    [undefined, 'UNKNOWN', null],
  ]);
  const { body } = await account.graphql(
    'mutation { commandAgents(input: { command: STOP }) { results { outcome } } }',
  );
  expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
});

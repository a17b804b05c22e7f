// Whose an authtoken is, which sessions there are, and where names are, as the registrar tells one node.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../src/store/ids.ts';
import { deriveKeys } from '../../../src/store/keys/keys.ts';
import { createGrants } from '../../../src/store/tunnels/credential-grants.ts';
import type { AgentRefusal, BindRequest } from '../../../src/tunnel/control/registrar.ts';
import {
  bound,
  leaveTo,
  nameRequest,
  newClientId,
  newCredential,
  openSession,
  reserve,
  strangeToken,
  type TestCredential,
} from '../../support/agents/live.ts';
import { type Account, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { statementsOf } from '../../support/gateway/statements.ts';

const serverKey = randomBytes(32);
let gateway: TestGateway;
let account: Account;
let other: Account;
let credential: TestCredential;
let session: string;
beforeAll(async () => {
  const overrides = { NODE_LEASE_MS: '600000', SERVER_KEY: serverKey.toString('base64') };
  gateway = await startTestGateway(overrides, { counting: true });
  account = await gateway.newAccount();
  other = await gateway.newAccount();
});
beforeEach(async () => {
  credential = await newCredential(account);
  session = await openSession(gateway, credential);
});
afterAll(() => gateway?.close());

let names = 0;
const newName = () => `n${++names}.tunnel.localhost`;
const bind = (request: BindRequest) => gateway.registrar.bind(request);
const refused = (name: Exclude<AgentRefusal['refused'], 'sessionEnded'>, target: string) => ({ refused: name, target });

/** What the account sees of the live objects, by the API. */
async function shown(path: string, key: string): Promise<{ id: string }[]> {
  const { body } = await account.call('GET', path);
  return body[key];
}

describe('an authtoken', () => {
  test('grants what its credential may do', async () => {
    const { credentialId, authtoken } = await newCredential(account, { acl: ['bind:a.example.com'] });
    const grant = {
      credentialId,
      accountId: account.accountId,
      acl: ['bind:a.example.com'],
      tokenNumber: 0,
      previousUntil: null,
    };
    expect(await gateway.registrar.authenticate(authtoken)).toEqual(grant);
    expect(await gateway.registrar.grant(credentialId)).toEqual(grant);
  });

  test.each(['', 'x', 'a'.repeat(52), `${'a'.repeat(27)}_${'b'.repeat(23)}`, `${'a'.repeat(27)}_${'b'.repeat(23)}-`])(
    'that reads %o is malformed',
    async (text) => {
      expect(await gateway.registrar.authenticate(text)).toEqual({ refused: 'authtokenMalformed' });
    },
  );

  test('that nobody has, or that is an API key, is unknown', async () => {
    const { body } = await account.call('POST', '/api_keys', {});
    for (const token of [strangeToken(newId('cr')), body.token])
      expect(await gateway.registrar.authenticate(token)).toEqual({ refused: 'authtokenUnknown' });
  });

  test('of a deleted credential is unknown, and there is no grant', async () => {
    await account.call('DELETE', `/credentials/${credential.credentialId}`);
    expect(await gateway.registrar.authenticate(credential.authtoken)).toEqual({ refused: 'authtokenUnknown' });
    expect(await gateway.registrar.grant(credential.credentialId)).toBeNull();
  });

  test('of an owner who is not active is inactive, and there is no grant', async () => {
    const user = await account.addOwner();
    const { credentialId, authtoken } = await newCredential(user);
    await account.graphql('mutation ($id: ID!) { deactivateUser(id: $id) { user { id } } }', { id: user.ownerId });
    expect(await gateway.registrar.authenticate(authtoken)).toEqual({ refused: 'authtokenInactive' });
    expect(await gateway.registrar.grant(credentialId)).toBeNull();
  });
});

test('an authtoken from before the server key was changed is known, and renewed', async () => {
  const { app } = gateway;
  const next = randomBytes(32);
  const { credentialId, authtoken } = credential;
  const known = { credentialId, accountId: account.accountId, acl: [], tokenNumber: 0, previousUntil: null };
  expect(await createGrants({ ...app, keys: deriveKeys(next) }).authenticate(authtoken)).toEqual({
    refused: 'authtokenUnknown',
  });
  expect(await createGrants({ ...app, keys: deriveKeys(next, serverKey) }).authenticate(authtoken)).toEqual(known);
  expect(await createGrants({ ...app, keys: deriveKeys(next) }).authenticate(authtoken)).toEqual(known);
});

test('listeners get the credentials whose grants change', async () => {
  const heard: (string | null)[] = [];
  const stop = gateway.registrar.onGrantChange((id) => heard.push(id));
  const { credentialId } = await newCredential(account);
  await account.call('PATCH', `/credentials/${credentialId}`, { acl: ['*'] });
  await account.call('DELETE', `/credentials/${credentialId}`);
  const user = await account.addOwner();
  await account.graphql('mutation ($id: ID!) { deactivateUser(id: $id) { user { id } } }', { id: user.ownerId });
  const { body } = await account.call('POST', '/bot_users', { name: 'a bot' });
  await account.call('PATCH', `/bot_users/${body.id}`, { active: false });
  gateway.app.changes.reportGap();
  expect(heard).toEqual([credentialId, credentialId, null, null, null]);
  stop();
  await account.call('PATCH', `/credentials/${credential.credentialId}`, { acl: ['*'] });
  expect(heard).toHaveLength(5);
});

describe('a session', () => {
  test('replaces the one that its agent had before, and whoever had that hears of it', async () => {
    const taken: string[] = [];
    const stop = gateway.registrar.onSessionReplaced((id) => taken.push(id));
    const clientId = newClientId();
    const before = await openSession(gateway, credential, { clientId });
    const { tunnelId } = bound(await bind(nameRequest(before, newName())));
    const foreign = await openSession(gateway, await newCredential(other), { clientId });
    const now = await openSession(gateway, credential, { clientId });
    stop();
    const ids = (await shown('/tunnel_sessions', 'tunnel_sessions')).map(({ id }) => id);
    expect(ids).toContain(now);
    expect(ids).not.toContain(before);
    expect((await shown('/tunnels', 'tunnels')).map(({ id }) => id)).not.toContain(tunnelId);
    expect(taken).toEqual([before]);
    expect(gateway.registrar.isOwn(foreign)).toBe(true);
  });

  test('of one agent that is opened twenty times at once is there once', async () => {
    const clientId = newClientId();
    const ids = await Promise.all(Array.from({ length: 20 }, () => openSession(gateway, credential, { clientId })));
    const left = await gateway.app.prisma.tunnelSession.findMany({ where: { clientId }, select: { id: true } });
    expect(left).toHaveLength(1);
    expect(ids).toContain(left[0]?.id);
  });

  test('that ended binds nothing, and ending it again is no error', async () => {
    await gateway.registrar.sessionClosed(session, 0);
    await gateway.registrar.sessionClosed(session, 0);
    expect(await bind(nameRequest(session, newName()))).toEqual({ refused: 'sessionEnded' });
    const labels = { sessionId: session, resume: null, labels: { a: 'b' }, forwardsTo: '', metadata: '' };
    expect(await gateway.registrar.bindLabels(labels)).toEqual({ refused: 'sessionEnded' });
  });

  test('whose credential is revoked binds nothing', async () => {
    await account.call('DELETE', `/credentials/${credential.credentialId}`);
    expect(await bind(nameRequest(session, newName()))).toEqual({ refused: 'sessionEnded' });
  });

  test('that is lost holds its addresses for its credential until the hold ends', async () => {
    const [hostname, second] = [newName(), await openSession(gateway, credential)];
    const stranger = await openSession(gateway, await newCredential(account));
    bound(await bind(nameRequest(session, hostname)));
    await gateway.registrar.sessionClosed(session, 30_000);
    expect(await bind(nameRequest(stranger, hostname))).toEqual(refused('inUse', hostname));
    bound(await bind(nameRequest(second, hostname)));
    await gateway.registrar.sessionClosed(second, 30_000);
    const past = { heldUntil: new Date(Date.now() - 1) };
    await gateway.app.prisma.claim.update({ where: { address: `http:${hostname}` }, data: past });
    bound(await bind(nameRequest(stranger, hostname)));
  });

  test('that its agent closes holds no addresses', async () => {
    const hostname = newName();
    bound(await bind(nameRequest(session, hostname)));
    await gateway.registrar.sessionClosed(session, 0);
    expect(await gateway.app.prisma.claim.findUnique({ where: { address: `http:${hostname}` } })).toBeNull();
  });
});

test('a tunnel shows its new metadata, and so does its endpoint', async () => {
  const { tunnelId, endpointId } = bound(await bind(nameRequest(session, newName())));
  await gateway.registrar.tunnelChanged(tunnelId, { metadata: 'new' });
  await gateway.registrar.tunnelChanged(newId('tn'), { metadata: 'of none' });
  expect((await account.call('GET', `/tunnels/${tunnelId}`)).body.metadata).toBe('new');
  expect((await account.call('GET', `/endpoints/${endpointId}`)).body.metadata).toBe('new');
});

describe('where a name is', () => {
  const where = async (hostname: string, listener: 'http' | 'tls' = 'http') =>
    (await gateway.registrar.lookUp({ listener, hostname })).status;

  test('that nobody has is unknown', async () => {
    expect(await where('nobody.tunnel.localhost')).toBe('unknown');
    expect(await where('\0')).toBe('unknown');
    expect(await where(`${'a.'.repeat(200)}localhost`)).toBe('unknown');
  });

  test('that is reserved, or kept for a lost session, is offline', async () => {
    const hostname = newName();
    bound(await bind(nameRequest(session, hostname)));
    await gateway.registrar.sessionClosed(session, 30_000);
    await reserve(other, '*.where.example.com');
    expect(await where(hostname)).toBe('offline');
    expect(await where(hostname, 'tls')).toBe('unknown');
    expect(await where('in.where.example.com')).toBe('covered');
    expect(await where('deep.in.where.example.com')).toBe('beneath');
    expect(await where('where.example.com')).toBe('unknown');
  });

  test('that another node serves is elsewhere, and offline when that died', async () => {
    const [hostname, dead] = [newName(), newName()];
    await reserve(account, '*.far.example.com');
    const second = await openSession(gateway, credential);
    bound(await bind(nameRequest(session, hostname)));
    bound(await bind(nameRequest(session, '*.far.example.com')));
    bound(await bind(nameRequest(second, dead)));
    await leaveTo(gateway, session, Date.now() + 60_000);
    await leaveTo(gateway, second, Date.now() - 1);
    expect(await where(hostname)).toBe('elsewhere');
    expect(await where('a.b.far.example.com')).toBe('elsewhere');
    expect(await where(dead)).toBe('offline');
  });

  test('costs few statements, however many ask for whatever names', async () => {
    const statements = await statementsOf(async () => {
      const asked = Array.from({ length: 1000 }, (_, index) => where(`r${index % 300}.flood.tunnel.localhost`));
      expect(new Set(await Promise.all(asked))).toEqual(new Set(['unknown']));
      await where('r0.flood.tunnel.localhost');
    });
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.length).toBeLessThanOrEqual(4);
  });
});

// Addresses that go offline, as the registrar leaves them.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../src/store/ids.ts';
import { sweepExpiredAddresses } from '../../../src/store/nodes/nodes.ts';
import type { BindRequest } from '../../../src/tunnel/control/registrar.ts';
import {
  bound,
  leaveTo,
  nameRequest,
  newCredential,
  openSession,
  reserve,
  type TestCredential,
} from '../../support/agents/live.ts';
import { type Account, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { statementsOf } from '../../support/gateway/statements.ts';

const A_DAY_MS = 24 * 3_600_000;
const HOLD_MS = 30_000;
let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
let session: string;
beforeAll(async () => {
  gateway = await startTestGateway({ NODE_LEASE_MS: '600000' }, { counting: true });
});
beforeEach(async () => {
  account = await gateway.newAccount();
  credential = await newCredential(account);
  session = await openSession(gateway, credential);
});
afterAll(() => gateway?.close());

let names = 0;
const newName = () => `off${++names}.tunnel.localhost`;
const bind = async (hostname: string, more: Partial<BindRequest> & { by?: string } = {}) =>
  bound(await gateway.registrar.bind(nameRequest(more.by ?? session, hostname, more)));
const rowsOf = ({ accountId }: Pick<Account, 'accountId'>) =>
  gateway.app.prisma.offlineEndpoint.findMany({ where: { accountId }, orderBy: { id: 'desc' } });
const reasons = async (of = account) => Object.fromEntries((await rowsOf(of)).map((row) => [row.hostport, row.reason]));
const sweep = () => {
  const { prisma, changes } = gateway.app;
  return sweepExpiredAddresses(
    { prisma, changes, baseUrl: () => 'https://api.test' },
    { id: newId('node'), isSettled: true },
    HOLD_MS,
  );
};

/** What is announced while something is done. */
async function announced(work: () => Promise<unknown>): Promise<string[]> {
  const told: string[] = [];
  const stop = gateway.app.changes.listen(({ kind, action, accountId }) => {
    if (kind === 'offlineEndpoint' && accountId === account.accountId) told.push(action);
  });
  await work();
  stop();
  return told;
}

describe('an address goes offline', () => {
  test('with all that was known of it, when its agent says good-bye', async () => {
    const hostname = newName();
    await bind(hostname, { name: 'shop', metadata: 'm', forwardsTo: 'http://localhost:1' });
    const where = { hostport: `${hostname}:80` };
    const { id: endpointId, createdAt } = await gateway.app.prisma.endpoint.findFirstOrThrow({ where });
    expect(await announced(() => gateway.registrar.sessionClosed(session, 0))).toEqual(['CREATED']);
    const [row, ...others] = await rowsOf(account);
    expect(others).toEqual([]);
    expect(row).toEqual({
      id: expect.stringMatching(/^oep_/),
      accountId: account.accountId,
      address: `http:${hostname}`,
      proto: 'http',
      publicUrl: `http://${hostname}`,
      hostport: `${hostname}:80`,
      metadata: 'm',
      forwardsTo: 'http://localhost:1',
      name: 'shop',
      endpointId,
      credentialId: credential.credentialId,
      agentId: expect.stringMatching(/^agt_/),
      agentVersion: '1.0.0',
      ip: '127.0.0.1',
      os: 'linux',
      onlineAt: createdAt,
      offlineAt: expect.any(Date),
      reason: 'the agent said good-bye',
    });
  });

  test('for the reason that its session ended, or its tunnel', async () => {
    const [lost, told, refused, closed] = [newName(), newName(), newName(), newName()];
    await bind(lost);
    await gateway.registrar.sessionClosed(session, HOLD_MS, 'no sign of life for 15000 ms');
    session = await openSession(gateway, credential);
    await bind(told);
    const [first, second] = [await bind(refused), await bind(closed)];
    await gateway.registrar.tunnelClosed(session, first.tunnelId, 'not allowed');
    await gateway.registrar.tunnelClosed(session, second.tunnelId);
    await gateway.registrar.sessionClosed(session, 0, '', 'it was stopped through the API');
    expect(await reasons()).toEqual({
      [`${lost}:80`]: 'no sign of life for 15000 ms',
      [`${told}:80`]: 'it was stopped through the API',
      [`${refused}:80`]: 'not allowed',
      [`${closed}:80`]: 'the agent closed it',
    });
  });

  test('when its agent has a new session, and is back when that serves it', async () => {
    const hostname = newName();
    const { clientId } = await gateway.app.prisma.tunnelSession.findUniqueOrThrow({ where: { id: session } });
    await bind(hostname);
    expect(
      await announced(async () => {
        session = await openSession(gateway, credential, { clientId });
      }),
    ).toEqual(['CREATED']);
    expect(await reasons()).toEqual({ [`${hostname}:80`]: 'replaced by a new session' });
    expect(await announced(() => bind(hostname))).toEqual(['DELETED']);
    expect(await rowsOf(account)).toEqual([]);
  });

  test('when its node is lost', async () => {
    const hostname = newName();
    await bind(hostname);
    await leaveTo(gateway, session, Date.now() - 3_600_000);
    expect(await announced(sweep)).toEqual(['CREATED']);
    expect(await reasons()).toEqual({ [`${hostname}:80`]: 'the gateway node was lost' });
  });

  test('when another account takes it from a node that is lost', async () => {
    const other = await gateway.newAccount();
    const hostname = newName();
    await bind(hostname);
    await leaveTo(gateway, session, Date.now() - 60_000);
    await bind(hostname, { by: await openSession(gateway, await newCredential(other)) });
    expect(await reasons()).toEqual({ [`${hostname}:80`]: 'the gateway node was lost' });
    expect(await reasons(other)).toEqual({});
  });

  test('once, however many tunnels of the session shared it', async () => {
    const hostname = newName();
    for (let i = 0; i < 3; i++) await bind(hostname, { pooling: true });
    expect(await announced(() => gateway.registrar.sessionClosed(session, 0))).toEqual(['CREATED']);
    expect(await rowsOf(account)).toHaveLength(1);
  });
});

describe('an address stays online', () => {
  test('as long as one tunnel of the account serves it', async () => {
    const hostname = newName();
    const colleague = await openSession(gateway, credential);
    await bind(hostname, { pooling: true });
    await bind(hostname, { pooling: true, by: colleague });
    await gateway.registrar.sessionClosed(session, 0);
    expect(await rowsOf(account)).toEqual([]);
    await gateway.registrar.sessionClosed(colleague, HOLD_MS, 'lost');
    expect(await reasons()).toEqual({ [`${hostname}:80`]: 'lost' });
  });

  test('when its tunnel is resumed before the session that had it has ended', async () => {
    const hostname = newName();
    const { tunnelId } = await bind(hostname);
    const again = await openSession(gateway, credential);
    expect(await announced(() => bind(hostname, { by: again, resume: tunnelId }))).toEqual([]);
    expect(await rowsOf(account)).toEqual([]);
  });
});

describe('what is known of an offline address', () => {
  test('is the account’s own, whoever serves the address next', async () => {
    const hostname = newName();
    await bind(hostname);
    await gateway.registrar.sessionClosed(session, 0);
    const other = await gateway.newAccount();
    await bind(hostname, { by: await openSession(gateway, await newCredential(other)) });
    expect(await reasons()).toEqual({ [`${hostname}:80`]: 'the agent said good-bye' });
  });

  test('stays when a bind is refused', async () => {
    const hostname = newName();
    await bind(hostname);
    await gateway.registrar.sessionClosed(session, 0);
    const other = await gateway.newAccount();
    await reserve(other, hostname);
    session = await openSession(gateway, credential);
    expect(await gateway.registrar.bind(nameRequest(session, hostname))).toMatchObject({ refused: 'reservedByOther' });
    expect(await reasons()).toEqual({ [`${hostname}:80`]: 'the agent said good-bye' });
  });

  test('is what it was last, should it be there already', async () => {
    const hostname = newName();
    await bind(hostname, { metadata: 'new' });
    const { prisma } = gateway.app;
    const { accountId } = account;
    const known = {
      id: newId('oep'),
      accountId,
      address: `http:${hostname}`,
      proto: 'http',
      publicUrl: '',
      hostport: '',
    };
    await prisma.offlineEndpoint.create({ data: { ...known, onlineAt: new Date(0), offlineAt: new Date(0) } });
    expect(await announced(() => gateway.registrar.sessionClosed(session, 0))).toEqual(['UPDATED']);
    const [row] = await rowsOf(account);
    expect(row).toMatchObject({ id: known.id, metadata: 'new', hostport: `${hostname}:80` });
    expect(row?.offlineAt.getTime()).toBeGreaterThan(Date.now() - A_DAY_MS);
  });

  test('is kept for 30 days, and of an account the newest thousand', async () => {
    const { prisma } = gateway.app;
    const { accountId } = account;
    const row = (i: number) => ({ id: newId('oep'), accountId, address: `http:${i}`, proto: 'http', publicUrl: '' });
    const data = Array.from({ length: 1003 }, (_, i) => {
      const offlineAt = new Date(Date.now() - (i === 1000 ? 30.01 : i === 1001 ? 29.99 : 1) * A_DAY_MS);
      return { ...row(i), hostport: String(i), onlineAt: offlineAt, offlineAt };
    });
    await prisma.offlineEndpoint.createMany({ data });
    expect(await announced(sweep)).toEqual(Array(4).fill('DELETED'));
    const kept = (await rowsOf(account)).map(({ hostport }) => Number(hostport));
    expect(kept).toEqual(Array.from({ length: 1003 }, (_, i) => 1002 - i).filter((i) => i >= 3 && i !== 1000));
  });
});

test('a tunnel that has labels and no address leaves nothing', async () => {
  const request = { sessionId: session, resume: null, labels: { app: 'shop' }, forwardsTo: '', metadata: '' };
  bound(await gateway.registrar.bindLabels(request));
  expect(await announced(() => gateway.registrar.sessionClosed(session, 0))).toEqual([]);
});

test('that a session’s addresses go offline takes no statement of its own', async () => {
  for (let i = 0; i < 5; i++) await bind(newName());
  const closing = await statementsOf(() => gateway.registrar.sessionClosed(session, HOLD_MS, 'lost'));
  const about = closing.filter((statement) => statement.includes('offline_endpoint'));
  expect(about).toEqual([expect.stringContaining('DELETE FROM tunnel_session')]);
  const opening = await statementsOf(async () => {
    session = await openSession(gateway, credential);
    await bind(newName());
  });
  const back = opening.filter((statement) => statement.includes('offline_endpoint'));
  expect(back).toEqual([expect.stringContaining('INSERT INTO endpoint')]);
});

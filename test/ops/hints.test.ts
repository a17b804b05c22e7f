// Two gateways on one server without a bus: what is announced in a transaction, what after it, and what happens when that is lost.

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Change } from '../../src/store/changes/changes.ts';
import { newCredential } from '../support/agents/live.ts';
import { rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { onServer, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace, type Place } from '../support/gateway/place.ts';
import { isLong } from '../support/shortened.ts';

/** In which a node finds what it was not told of; milliseconds. A busy machine takes longer than is promised. */
const FOUND_MS = isLong ? 5000 : 20_000;

describe.runIf(onServer)('two gateways on one server', () => {
  let place: Place;
  let proxy: FaultProxy;
  let gateway: TestGateway;
  let other: TestGateway;
  beforeAll(async () => {
    place = await newPlace({ empty: true });
    const url = new URL(place.env.DATABASE_URL ?? '');
    proxy = await startFaultProxy(url.hostname, Number(url.port || 5432));
    url.host = `127.0.0.1:${proxy.port}`;
    gateway = await startTestGateway({ DATABASE_DIRECT_URL: url.href }, { place, counting: true });
    other = await startTestGateway({}, { place });
  });
  afterAll(async () => {
    await Promise.all([gateway?.close(), other?.close()]);
    await proxy?.close();
    await place?.remove();
  });

  /** The next change that the other gateway hears and that passes the test. */
  const heardThere = (passes: (change: Change) => boolean) =>
    new Promise<Change>((resolve) => {
      const stop = other.app.changes.listen((change) => {
        if (!passes(change)) return;
        stop();
        resolve(change);
      });
    });
  const notifying = () => gateway.statements.filter((statement) => statement.includes('pg_notify'));
  async function connectAgent(): Promise<{ agent: Awaited<ReturnType<typeof rawAgent>>; accountId: string }> {
    const account = await gateway.newAccount();
    const { authtoken } = await newCredential(account);
    const agent = await rawAgent(gateway);
    expect((await agent.auth(authtoken)).Error).toBe('');
    return { agent, accountId: account.accountId };
  }

  test('a bind is heard, though nothing of it is notified in its transaction', async () => {
    const { agent, accountId } = await connectAgent();
    gateway.statements.length = 0;
    const heard = heardThere((change) => change.kind === 'endpoint' && change.accountId === accountId);
    expect((await agent.bind('hinted.tunnel.localhost')).Error).toBe('');
    expect(await heard).toMatchObject({ action: 'CREATED' });
    const ended = heardThere((change) => change.kind === 'tunnelSession' && change.accountId === accountId);
    agent.close();
    expect(await ended).toMatchObject({ action: 'DELETED' });
    expect(notifying()).toEqual([]);
  });

  test('a change of configuration is notified in its transaction', async () => {
    const account = await gateway.newAccount();
    gateway.statements.length = 0;
    const heard = heardThere(({ kind, accountId }) => kind === 'credential' && accountId === account.accountId);
    await newCredential(account);
    await heard;
    expect(notifying()).toHaveLength(1);
  });

  test('a session whose end nobody hinted at ends within 5 s', async () => {
    const { agent, accountId } = await connectAgent();
    const { agent: staying } = await connectAgent();
    const begun = performance.now();
    // As a process leaves it that dies between its commit and its hint.
    await other.app.prisma.tunnelSession.deleteMany({ where: { accountId } });
    await agent.closed;
    expect(performance.now() - begun).toBeLessThan(FOUND_MS);
    expect((await staying.bind('staying.tunnel.localhost')).Error).toBe('');
  });

  test('hints wait while the connection is away', async () => {
    proxy.refuse();
    await proxy.cut();
    // A hint that is sent before the loss is noticed becomes a gap.
    await eventually(async () => expect((await fetch(`${gateway.admin}/readyz`)).status).toBe(503));
    const { agent, accountId } = await connectAgent();
    expect((await agent.bind('waiting.tunnel.localhost')).Error).toBe('');
    const heard = heardThere((change) => change.kind === 'endpoint' && change.accountId === accountId);
    await proxy.heal();
    expect(await heard).toMatchObject({ action: 'CREATED' });
  });

  test('migrations and LISTEN use DATABASE_DIRECT_URL, and nothing else does', async () => {
    const server = new pg.Client({ connectionString: place.env.DATABASE_URL });
    await server.connect();
    const { rows } = await server.query(
      'SELECT application_name AS name, client_port AS port FROM pg_stat_activity WHERE datname = current_database()',
    );
    await server.end();
    const ports = new Set([...proxy.connections].map(({ port }) => port));
    expect(rows.filter(({ port }) => ports.has(port)).map(({ name }) => name)).toEqual(['gateway listener']);
    expect(proxy.accepted).toBeGreaterThan(2); // One of the migrations, and two that listened.
  });
});

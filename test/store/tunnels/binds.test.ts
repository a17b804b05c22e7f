// Which names and ports the registrar lets an agent bind on one node, and what a bind costs.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AgentRefusal, BindRequest } from '../../../src/tunnel/control/registrar.ts';
import {
  bound,
  nameRequest,
  newCredential,
  openSession,
  reserve,
  type TestCredential,
} from '../../support/agents/live.ts';
import { type Account, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { statementsOf } from '../../support/gateway/statements.ts';

let gateway: TestGateway;
let account: Account;
let other: Account;
let credential: TestCredential;
let session: string;
beforeAll(async () => {
  gateway = await startTestGateway({ NODE_LEASE_MS: '600000' }, { counting: true });
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

const tcp = (sessionId: string, port: number, more: Partial<BindRequest> = {}) =>
  nameRequest(sessionId, 'tunnel.localhost', { proto: 'tcp', port, ...more });

describe('the ACL of a credential', () => {
  const opened = async (acl: string[]) => openSession(gateway, await newCredential(account, { acl }));

  test('decides about names', async () => {
    const hostname = newName();
    const narrow = await opened([`bind:${hostname}`]);
    bound(await bind(nameRequest(narrow, hostname)));
    expect(await bind(nameRequest(narrow, 'x.tunnel.localhost'))).toEqual(refused('nameDenied', 'x.tunnel.localhost'));
    bound(await bind(nameRequest(await opened(['bind:*.tunnel.localhost']), newName(), { isGenerated: true })));
  });

  test('decides about addresses, and a port of the gateway’s choice', async () => {
    const narrow = await opened(['bind:tunnel.localhost:20001', 'bind:*.tunnel.localhost']);
    bound(await bind(tcp(narrow, 20_001)));
    expect(await bind(tcp(narrow, 20_002))).toEqual(refused('addressDenied', 'tunnel.localhost:20002'));
    expect(await bind(tcp(narrow, 20_003, { isGenerated: true }))).toEqual(
      refused('anyPortDenied', 'tunnel.localhost:20003'),
    );
    bound(await bind(tcp(session, 20_003, { isGenerated: true })));
  });

  test('decides about every label', async () => {
    const narrow = await opened(['bind:app=*']);
    const request = (labels: Record<string, string>) => ({
      sessionId: narrow,
      resume: null,
      labels,
      forwardsTo: '',
      metadata: '',
    });
    bound(await gateway.registrar.bindLabels(request({ app: 'shop' })));
    expect(await gateway.registrar.bindLabels(request({ app: 'shop', site: 'berlin' }))).toEqual(
      refused('labelDenied', 'site=berlin'),
    );
  });

  test('is evaluated when the bind is made', async () => {
    const hostname = newName();
    await account.call('PATCH', `/credentials/${credential.credentialId}`, { acl: ['bind:a.example.com'] });
    expect(await bind(nameRequest(session, hostname))).toEqual(refused('nameDenied', hostname));
  });
});

describe('a name', () => {
  test('outside the base domain must be reserved, by itself or a wildcard', async () => {
    const domainId = await reserve(account, 'app.reserved.example.com');
    await reserve(account, '*.wild.example.com');
    for (const free of [
      'reserved.example.com',
      'x.app.reserved.example.com',
      'wild.example.com',
      'elsewhere.example.com',
    ])
      expect(await bind(nameRequest(session, free))).toEqual(refused('notReserved', free));
    const { endpointId } = bound(await bind(nameRequest(session, 'app.reserved.example.com')));
    for (const covered of ['a.wild.example.com', 'a.b.wild.example.com', '*.wild.example.com'])
      bound(await bind(nameRequest(session, covered)));
    const { body } = await account.call('GET', `/endpoints/${endpointId}`);
    expect(body).toMatchObject({ hostport: 'app.reserved.example.com:80', domain: { id: domainId } });
  });

  test('that is a wildcard must be reserved as it is', async () => {
    await reserve(account, '*.deep.example.com');
    await reserve(account, '*.pool.tunnel.localhost');
    for (const name of ['*.a.deep.example.com', '*.tunnel.localhost', '*.localhost', '*.a.tunnel.localhost'])
      expect(await bind(nameRequest(session, name))).toEqual(refused('notReserved', name));
    bound(await bind(nameRequest(session, '*.pool.tunnel.localhost')));
  });

  test('of the gateway itself cannot be bound', async () => {
    for (const name of ['tunnel.localhost', 'x.cname.tunnel.localhost', 'acme.tunnel.localhost'])
      expect(await bind(nameRequest(session, name))).toEqual(refused('notReserved', name));
  });

  test('that another account has reserved, or that lies below one, is refused', async () => {
    await reserve(other, 'theirs.tunnel.localhost');
    await reserve(other, '*.theirs.example.com');
    const names = [
      'theirs.tunnel.localhost',
      'a.theirs.tunnel.localhost',
      'a.theirs.example.com',
      'theirs.example.com',
    ];
    for (const name of names) expect(await bind(nameRequest(session, name))).toEqual(refused('reservedByOther', name));
  });

  test('that is on an edge is refused, on both listeners', async () => {
    const hostname = 'edge.tunnel.localhost';
    await reserve(account, hostname);
    expect((await account.call('POST', '/edges/https', { hostports: [`${hostname}:443`] })).status).toBe(201);
    for (const proto of ['http', 'https', 'tls'] as const)
      expect(await bind(nameRequest(session, hostname, { proto }))).toEqual(refused('onEdge', hostname));
  });

  test('is in use for one listener at a time: https and tls share theirs', async () => {
    const hostname = newName();
    bound(await bind(nameRequest(session, hostname)));
    bound(await bind(nameRequest(session, hostname, { proto: 'https' })));
    for (const proto of ['http', 'https', 'tls'] as const)
      expect(await bind(nameRequest(session, hostname, { proto }))).toEqual(refused('inUse', hostname));
  });

  test('cannot be reserved by another account while it is served', async () => {
    const [name, above] = ['live.busy.tunnel.localhost', 'busy.tunnel.localhost'];
    bound(await bind(nameRequest(session, name)));
    for (const domain of [name, above, `*.${above}`]) {
      const { status, body } = await other.call('POST', '/reserved_domains', { domain });
      expect({ status, code: body.error_code }).toEqual({ status: 409, code: 'ERR_GATEWAY_414' });
    }
    await reserve(account, above);
    await gateway.registrar.sessionClosed(session, 0);
    await reserve(other, 'free.tunnel.localhost');
  });
});

test('a refused bind leaves no rows', async () => {
  const { prisma } = gateway.app;
  const counts = () => Promise.all([prisma.claim.count(), prisma.tunnel.count(), prisma.endpoint.count()]);
  const hostname = newName();
  bound(await bind(nameRequest(session, hostname)));
  const before = await counts();
  for (const name of [hostname, 'x.example.org', 'tunnel.localhost']) await bind(nameRequest(session, name));
  expect(await counts()).toEqual(before);
});

test('a bind takes at most eight statements, none of which notifies other nodes', async () => {
  const count = async (request: BindRequest) => {
    const statements = await statementsOf(async () => bound(await bind(request)));
    return 1 + statements.filter((statement) => !statement.startsWith('BEGIN')).length; // Not reported on every database.
  };
  // One of them asks who hears of events.
  const hostname = newName();
  expect(await count(nameRequest(session, hostname))).toBeLessThanOrEqual(8);
  expect(await count(nameRequest(session, newName(), { isGenerated: true }))).toBeLessThanOrEqual(8);
  expect(await count(tcp(session, 20_200))).toBeLessThanOrEqual(8);
  await gateway.registrar.sessionClosed(session, 30_000);
  const second = await openSession(gateway, credential);
  expect(await count(nameRequest(second, hostname))).toBeLessThanOrEqual(8);
});

// Many sessions that bind one address at the same time: on one node, and where there is a server on two.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BindRequest } from '../../../src/tunnel/control/registrar.ts';
import { nameRequest, newCredential, openSession } from '../../support/agents/live.ts';
import { eventually } from '../../support/eventually.ts';
import { onServer } from '../../support/gateway/gateway.ts';
import { type RacingNodes, startRacingNodes } from './racing-nodes.ts';

const RACERS = 50;
let racing: RacingNodes;
beforeAll(async () => {
  racing = await startRacingNodes();
});
afterAll(() => racing?.close());

const newSession = (index: number) => racing.newSession(index);
const sessions = (count: number) => racing.sessions(count);
const nodeOf = (index: number) => racing.nodeOf(index);
const liveAt = (address: string) => racing.liveAt(address);

test.each<[string, string, string[], (id: string) => BindRequest]>([
  [
    'a name',
    'http:race.tunnel.localhost',
    ['inUse', 'reservedByOther'],
    (id) => nameRequest(id, 'race.tunnel.localhost'),
  ],
  ['a port', 'tcp:20500', ['inUse'], (id) => nameRequest(id, 'tunnel.localhost', { proto: 'tcp', port: 20_500 })],
])('of fifty who want %s at once one gets it', async (_, address, refusals, request) => {
  const racers = await sessions(RACERS);
  const answers = await Promise.all(racers.map(({ node, id }) => node.registrar.bind(request(id))));
  expect(answers.filter((answer) => !('refused' in answer))).toHaveLength(1);
  expect(new Set(answers.map((answer) => ('refused' in answer ? answer.refused : '')))).toEqual(
    new Set(['', ...refusals]),
  );
  expect(await liveAt(address)).toHaveLength(1);
});

test('of two accounts who want names of one site at once one gets all that it asks for, by bind or by reservation', async () => {
  const protos = ['http', 'https', 'tls'] as const;
  for (let round = 0; round < 5; round++) {
    const site = `site${round}.tunnel.localhost`;
    const racers = await sessions(30);
    const others = await nodeOf(1).newAccount();
    const reserving = others.call('POST', '/reserved_domains', { domain: `reserved.${site}` });
    const answers = await Promise.all(
      racers.map(({ node, id }, i) =>
        node.registrar.bind(nameRequest(id, i % 5 === 0 ? site : `n${i}.${site}`, { proto: protos[i % 3] ?? 'http' })),
      ),
    );
    const winners = new Set(
      racers.flatMap(({ credential }, i) => ('refused' in (answers[i] as object) ? [] : [credential.accountId])),
    );
    if ((await reserving).status === 201) winners.add(others.accountId);
    expect([...winners]).toHaveLength(1);
    const [winner] = winners;
    const [row] = await nodeOf(0).app.prisma.site.findMany({ where: { name: site } });
    expect(row?.accountId).toBe(winner);
    const losers = answers.filter((answer, i) => racers[i]?.credential.accountId !== winner && 'refused' in answer);
    expect(new Set(losers.map((answer) => 'refused' in answer && answer.refused))).toEqual(
      new Set(['reservedByOther']),
    );
  }
});

test('of two accounts whose sessions want to share a name, all sessions of one get it', async () => {
  const racers = await sessions(20);
  const answers = await Promise.all(
    racers.map(({ node, id }) => node.registrar.bind(nameRequest(id, 'pool.tunnel.localhost', { pooling: true }))),
  );
  const winners = racers.filter((_, index) => !('refused' in (answers[index] as object)));
  const [first] = winners;
  const all = racers.filter(({ credential }) => credential.accountId === first?.credential.accountId);
  expect(winners).toEqual(all);
});

test('a tunnel that many sessions resume at once ends up with one', async () => {
  const hostname = 'resume.tunnel.localhost';
  const owner = await newSession(0);
  const first = await owner.node.registrar.bind(nameRequest(owner.id, hostname));
  const resume = 'tunnelId' in first ? first.tunnelId : '';
  const racers = (await sessions(24)).filter(({ credential }) => credential.accountId === racing.account.accountId);
  const answers = await Promise.all(
    racers.map(({ node, id }) => node.registrar.bind(nameRequest(id, hostname, { resume }))),
  );
  // Each has proven that it is the agent: the last one has it, and the sessions of those before are over.
  expect(answers.filter((answer) => 'tunnelId' in answer && answer.tunnelId === resume)).not.toHaveLength(0);
  expect(await liveAt(`http:${hostname}`)).toHaveLength(1);
});

test('an agent that reconnects with many tunnels while its old session still exists gets all of them', async () => {
  const names = Array.from({ length: 16 }, (_, index) => `many${index}.tunnel.localhost`);
  const ghost = await newSession(0);
  const before = await Promise.all(names.map((name) => ghost.node.registrar.bind(nameRequest(ghost.id, name))));
  const back = await newSession(racing.nodes.length === 2 ? 3 : 0);
  const ids = before.map((answer) => ('tunnelId' in answer ? answer.tunnelId : ''));
  const after = await Promise.all(
    names.map((name, index) => back.node.registrar.bind(nameRequest(back.id, name, { resume: ids[index] ?? '' }))),
  );
  expect(after.map((answer) => ('tunnelId' in answer ? answer.tunnelId : answer))).toEqual(ids);
  expect(await nodeOf(0).app.prisma.tunnelSession.findUnique({ where: { id: ghost.id } })).toBeNull();
});

describe.runIf(onServer)('when one has to wait for the other', () => {
  /** Backends that wait for a lock. */
  const waiting = async () => {
    const [row] = await nodeOf(1).app.prisma.$queryRaw<[{ count: number }]>`
      SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return row.count;
  };
  const untilWaiting = (count: number) => eventually(async () => expect(await waiting()).toBeGreaterThanOrEqual(count));

  /** Holds up whoever needs a session until the work is done. */
  const holdingUp = (sessionId: string, work: () => Promise<void>) =>
    nodeOf(0).app.prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT id FROM tunnel_session WHERE id = ${sessionId} FOR UPDATE`;
      await work();
    });

  test('a name that is being bound is not reserved by another account', async () => {
    const domain = 'both.tunnel.localhost';
    const other = await nodeOf(0).newAccount();
    const session = await newSession(0);
    const pending: Promise<object>[] = [];
    await holdingUp(session.id, async () => {
      pending.push(session.node.registrar.bind(nameRequest(session.id, domain)));
      await untilWaiting(1);
      let isReserved = false;
      const reserving = other.call('POST', '/reserved_domains', { domain }).finally(() => {
        isReserved = true;
      });
      pending.push(reserving);
      await eventually(async () => expect(isReserved || (await waiting()) > 1).toBe(true));
    });
    const [answer, { status }] = (await Promise.all(pending)) as [object, { status: number }];
    expect(answer).not.toHaveProperty('refused');
    expect(status).toBe(409);
  });

  test('a shared name is not held for a session that ends while another one joins', async () => {
    const hostname = 'relay.tunnel.localhost';
    const [before, next] = [await newSession(0), await newSession(1)];
    const request = (id: string) => nameRequest(id, hostname, { pooling: true });
    await before.node.registrar.bind(request(before.id));
    const pending: Promise<unknown>[] = [];
    await holdingUp(next.id, async () => {
      pending.push(next.node.registrar.bind(request(next.id)));
      await untilWaiting(1);
      pending.push(before.node.registrar.sessionClosed(before.id, 60_000));
      await untilWaiting(2);
    });
    await Promise.all(pending);
    expect(await liveAt(`http:${hostname}`)).toHaveLength(1);
    const claim = await nodeOf(0).app.prisma.claim.findUnique({ where: { address: `http:${hostname}` } });
    expect(claim).toMatchObject({ heldUntil: null, credentialId: next.credential.credentialId });
  });
});

test('a tunnel that is bound while its ACL changes exists when the change is announced', async () => {
  const { prisma } = nodeOf(0).app;
  for (let round = 0; round < 10; round++) {
    const hostname = `late${round}.tunnel.localhost`;
    const { credentialId, accountId } = await newCredential(racing.account);
    const session = await openSession(nodeOf(1), { credentialId, accountId });
    const found = new Promise<boolean>((resolve) => {
      const stop = nodeOf(0).registrar.onGrantChange(async (id) => {
        if (id !== credentialId) return;
        stop();
        resolve((await prisma.endpoint.count({ where: { address: `http:${hostname}` } })) === 1);
      });
    });
    const [answer] = await Promise.all([
      nodeOf(1).registrar.bind(nameRequest(session, hostname)),
      racing.account.call('PATCH', `/credentials/${credentialId}`, { acl: ['bind:other.example.com'] }),
    ]);
    expect(await found).toBe(!('refused' in answer));
  }
});

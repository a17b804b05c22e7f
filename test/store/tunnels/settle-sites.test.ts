// Two accounts use one site, as versions before there were sites let them: the older use keeps it, at a start and while others run.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { settleSites } from '../../../src/store/tunnels/settle-sites.ts';
import { eventsOf, type Waiting, waiting } from '../../events/waiting.ts';
import { bound, nameRequest, newCredential, openSession, reserve } from '../../support/agents/live.ts';
import { type Account, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';

const TYPE = 'name_conflict_settled.v0';
const REASON = 'another account used the site of this name first, and keeps it';

let place: Place;
let gateway: TestGateway;
let older: Account;
let newer: Account;
let ofOlder: Waiting;
let ofNewer: Waiting;
beforeAll(async () => {
  place = await newPlace();
  gateway = await startTestGateway({}, { place });
  older = await gateway.newAccount();
  newer = await gateway.newAccount();
  ofOlder = await waiting(gateway, older, [TYPE]);
  ofNewer = await waiting(gateway, newer, [TYPE]);
});
afterAll(async () => {
  await gateway?.close();
  await place?.remove();
});

const sessionOf = async (account: Account) => openSession(gateway, await newCredential(account));
/** As a version did that knows no sites. */
async function bindAsBefore(session: string, hostname: string, proto: 'http' | 'tls' = 'http'): Promise<void> {
  bound(await gateway.registrar.bind(nameRequest(session, hostname, { proto })));
  await gateway.app.prisma.site.deleteMany();
}
const told = async () =>
  Promise.all(
    [ofOlder, ofNewer].map(async ({ destinationId: id }) => (await eventsOf(gateway, id)).map((e) => e.object)),
  );
const servedBy = async (account: Account) => {
  const { prisma } = gateway.app;
  const rows = [
    ...(await prisma.endpoint.findMany({ where: { accountId: account.accountId } })),
    ...(await prisma.claim.findMany({ where: { accountId: account.accountId } })),
  ];
  return [...new Set(rows.map(({ address }) => address))].sort();
};

test('beside a node that knows no sites, what was bound later ends with its session, whose other names are held', async () => {
  const [own, foreign, reserved] = [await sessionOf(older), await sessionOf(newer), await sessionOf(newer)];
  await bindAsBefore(own, 'live.tunnel.localhost');
  await reserve(newer, 'r.other.tunnel.localhost');
  await bindAsBefore(foreign, 'x.live.tunnel.localhost', 'tls');
  await bindAsBefore(foreign, 'theirs.tunnel.localhost');
  await bindAsBefore(reserved, 'r.other.tunnel.localhost');
  const taken: string[] = [];
  const stop = gateway.registrar.onSessionReplaced((id) => taken.push(id));
  const scope = { baseDomain: 'tunnel.localhost', nodeId: '', holdMs: 30_000 };
  const settle = () => settleSites({ ...gateway.app, baseUrl: () => gateway.api }, scope);
  const [first, second] = await Promise.all([settle(), settle()]);
  stop();
  expect([...first, ...second]).toEqual([
    {
      site: 'live.tunnel.localhost',
      accountId: older.accountId,
      otherAccountId: newer.accountId,
      names: ['x.live.tunnel.localhost'],
    },
  ]);
  expect(taken).toEqual([foreign]);
  expect(await servedBy(older)).toEqual(['http:live.tunnel.localhost']);
  expect(await servedBy(newer)).toEqual(['http:r.other.tunnel.localhost', 'http:theirs.tunnel.localhost']);
  const ended = { site: 'live.tunnel.localhost', ended_names: ['x.live.tunnel.localhost'] };
  expect(await told()).toEqual([[{ ...ended, is_kept: true }], [{ ...ended, is_kept: false }]]);
  expect(await settle()).toEqual([]);
});

test('a start settles it, tells both accounts and the log, and does so once', async () => {
  const { prisma } = gateway.app;
  const [own, foreign] = [await sessionOf(older), await sessionOf(newer)];
  await bindAsBefore(own, 'app.shop.tunnel.localhost', 'tls');
  await bindAsBefore(foreign, 'shop.tunnel.localhost');
  await bindAsBefore(foreign, 'app.shop.tunnel.localhost');
  const returning = await newCredential(newer);
  await prisma.eventBatch.deleteMany();
  for (const round of [1, 2]) {
    await gateway.close();
    gateway = await startTestGateway({}, { place });
    const logged = gateway.logs.filter((line) => line.includes('two accounts used names of one site'));
    expect(logged).toHaveLength(round === 1 ? 1 : 0);
    expect(await servedBy(newer)).not.toContain('http:shop.tunnel.localhost');
    expect(await servedBy(older)).toContain('tls:app.shop.tunnel.localhost');
  }
  const ended_names = ['shop.tunnel.localhost', 'app.shop.tunnel.localhost'];
  const ended = { site: 'shop.tunnel.localhost', ended_names };
  expect(await told()).toEqual([[{ ...ended, is_kept: true }], [{ ...ended, is_kept: false }]]);
  const late = await gateway.registrar.bind(
    nameRequest(await openSession(gateway, returning), 'y.shop.tunnel.localhost'),
  );
  expect(late).toEqual({ refused: 'reservedByOther', target: 'y.shop.tunnel.localhost' });
  const where = { accountId: newer.accountId, address: 'tls:x.live.tunnel.localhost' };
  expect(await gateway.app.prisma.offlineEndpoint.findFirst({ where })).toMatchObject({ reason: REASON });
});

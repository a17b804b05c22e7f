// Below the base domain an account has the whole site that it uses a name of, whatever the scheme: the label before the base domain, and
// all names below it. Others get none of them.

import { beforeAll, describe, expect, test } from 'vitest';
import { sweepSites } from '../../../src/store/domains/sites.ts';
import { newId } from '../../../src/store/ids.ts';
import type { BindRequest } from '../../../src/tunnel/control/registrar.ts';
import { done } from '../../live/edges/support.ts';
import { bound, leaveTo, nameRequest, newCredential, openSession, reserve } from '../../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

let gateway: TestGateway;
let owner: Account;
let stranger: Account;
let own: string;
let foreign: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  owner = await gateway.newAccount();
  stranger = await gateway.newAccount();
  own = await openSession(gateway, await newCredential(owner));
  foreign = await openSession(gateway, await newCredential(stranger));
});

let sites = 0;
const newSite = () => `site${++sites}.tunnel.localhost`;
const bind = (request: BindRequest) => gateway.registrar.bind(request);
const protos = ['http', 'https', 'tls'] as const;

const CREATE = `mutation ($domain: String!) { createReservedDomain(input: { domain: $domain }) { reservedDomain { id } } }`;
const CHECK = `query ($host: String!) { checkEdgeName(host: $host) { problem } }`;

/** What an account that may have no name of a site has got there by agents and reservations. */
async function gotBy({ call }: Account, session: string, site: string): Promise<string[]> {
  const got: string[] = [];
  for (const [i, name] of [site, `below.${site}`, `far.below.${site}`].entries()) {
    const answer = await bind(nameRequest(session, name, { proto: protos[i] ?? 'http' }));
    if (!('refused' in answer)) got.push(name);
    else expect(answer).toEqual({ refused: 'reservedByOther', target: name });
  }
  const { status, body } = await call('POST', '/reserved_domains', { domain: `other.${site}` });
  if (status === 201) got.push('reserved');
  else expect(body.error_code).toBe('ERR_GATEWAY_414');
  return got;
}

/** The same by every way to a name. */
async function gotByAnyWay(account: Account, session: string, site: string): Promise<string[]> {
  const got = await gotBy(account, session, site);
  for (const name of [site, `below.${site}`])
    for (const proto of protos)
      for (const pooling of [false, true]) {
        const answer = await bind(nameRequest(session, name, { proto, pooling, resume: pooling ? newId('tn') : null }));
        if (!('refused' in answer)) got.push(`${proto}://${name}`);
      }
  for (const domain of [site, `*.${site}`, `*.below.${site}`]) {
    const { body } = await account.graphql(CREATE, { domain });
    if (!body.errors) got.push(`GraphQL ${domain}`);
  }
  const hostports = [`below.${site}:443`];
  for (const path of ['/edges/https', '/edges/tls'])
    if ((await account.call('POST', path, { hostports })).status === 201) got.push(path);
  if ((await account.call('POST', '/cloud_endpoints', { url: `https://${site}` })).status === 201) got.push('cloud');
  return got;
}

const strangerGets = (site: string) => gotBy(stranger, foreign, site);

describe('a site of which an account', () => {
  test.each(
    protos.flatMap(
      (proto) =>
        [
          [proto, (site: string) => site],
          [proto, (site: string) => `deep.in.${site}`],
        ] as const,
    ),
  )('serves a name as %s is no other account’s', async (proto, nameIn) => {
    const site = newSite();
    bound(await bind(nameRequest(own, nameIn(site), { proto })));
    expect(await (proto === 'http' ? gotByAnyWay : gotBy)(stranger, foreign, site)).toEqual([]);
    // All of it is the owner's, as before.
    for (const other of protos.filter((one) => (one === 'http') !== (proto === 'http')).slice(0, 1))
      bound(await bind(nameRequest(own, nameIn(site), { proto: other })));
    bound(await bind(nameRequest(own, `beside.${site}`)));
    await reserve(owner, `*.${site}`);
  });

  test('serves a name that the gateway chose is no other account’s', async () => {
    const site = newSite();
    bound(await bind(nameRequest(own, site, { proto: 'https', isGenerated: true })));
    expect(await strangerGets(site)).toEqual([]);
  });

  test('has a name held for a lost session is no other account’s until that is over', async () => {
    const site = newSite();
    const lost = await openSession(gateway, await newCredential(owner));
    bound(await bind(nameRequest(lost, `app.${site}`, { proto: 'tls' })));
    await gateway.registrar.sessionClosed(lost, 60_000);
    expect(await strangerGets(site)).toEqual([]);
    await gateway.app.prisma.claim.update({ where: { address: `tls:app.${site}` }, data: { heldUntil: new Date(0) } });
    bound(await bind(nameRequest(foreign, site)));
  });

  test('has a name on a lost node is no other account’s while it is held', async () => {
    const site = newSite();
    const lost = await openSession(gateway, await newCredential(owner));
    bound(await bind(nameRequest(lost, site)));
    const nodeId = await leaveTo(gateway, lost, Date.now() - 1000);
    expect(await strangerGets(site)).toEqual([]);
    await leaveTo(gateway, lost, Date.now() - 60_000, nodeId);
    bound(await bind(nameRequest(foreign, `x.${site}`)));
  });

  test('has an edge, a cloud endpoint or a reservation is no other account’s', async () => {
    const [edge, cloud, reserved] = [newSite(), newSite(), newSite()];
    await reserve(owner, `*.${edge}`);
    await done(owner, 'POST', '/edges/https', { hostports: [`app.${edge}:443`] });
    await reserve(owner, `app.${cloud}`);
    await done(owner, 'POST', '/cloud_endpoints', { url: `https://app.${cloud}` });
    await reserve(owner, `low.${reserved}`);
    for (const site of [edge, cloud, reserved]) expect(await strangerGets(site)).toEqual([]);
    bound(await bind(nameRequest(own, `free.${reserved}`)));
  });

  test('uses no name any more is for whoever asks next', async () => {
    const site = newSite();
    const { tunnelId } = bound(await bind(nameRequest(own, `a.${site}`)));
    const domain = await reserve(owner, `b.${site}`);
    await gateway.registrar.tunnelClosed(own, tunnelId);
    expect(await bind(nameRequest(foreign, site))).toHaveProperty('refused');
    expect((await owner.call('DELETE', `/reserved_domains/${domain}`)).status).toBe(204);
    bound(await bind(nameRequest(foreign, site)));
    expect(await gotBy(owner, own, site)).toEqual([]);
  });
});

test('a name that is to be published says whose its site is', async () => {
  const site = newSite();
  bound(await bind(nameRequest(own, site)));
  const problem = async ({ graphql }: Account) =>
    (await graphql(CHECK, { host: `new.${site}` })).body.data.checkEdgeName.problem;
  expect(await problem(owner)).toBeNull();
  expect(await problem(stranger)).toContain('another account');
});

test('reservations of two accounts from before there were sites are good for their own names alone', async () => {
  const site = newSite();
  await reserve(owner, `a.${site}`);
  const rows = { region: '', description: '', metadata: '' };
  await gateway.app.prisma.reservedDomain.create({
    data: { ...rows, id: newId('rd'), accountId: stranger.accountId, domain: `b.${site}` },
  });
  for (const name of [`b.${site}`, `x.b.${site}`]) {
    expect(await bind(nameRequest(own, name))).toEqual({ refused: 'reservedByOther', target: name });
    bound(await bind(nameRequest(foreign, name, { proto: 'https' })));
  }
  expect(await bind(nameRequest(foreign, site))).toEqual({ refused: 'reservedByOther', target: site });
  expect((await stranger.call('POST', '/reserved_domains', { domain: `c.${site}` })).status).toBe(409);
  bound(await bind(nameRequest(own, site)));
});

test('names outside the base domain have no site: reservations hold what is below and above them', async () => {
  await reserve(owner, 'app.outside.example.com');
  for (const domain of ['app.outside.example.com', 'x.app.outside.example.com', 'outside.example.com'])
    expect((await stranger.call('POST', '/reserved_domains', { domain })).status).toBe(409);
  await reserve(stranger, 'beside.outside.example.com');
  expect(await gateway.app.prisma.site.count({ where: { name: { endsWith: 'example.com' } } })).toBe(0);
});

test('rows of sites that nobody uses are swept, and no others', async () => {
  const { prisma } = gateway.app;
  const [left, used, reserved] = [newSite(), newSite(), newSite()];
  const { tunnelId } = bound(await bind(nameRequest(own, left)));
  bound(await bind(nameRequest(own, used)));
  await reserve(owner, `*.${reserved}`);
  await gateway.registrar.tunnelClosed(own, tunnelId);
  await prisma.$transaction((tx) => sweepSites(tx, { baseDomain: 'tunnel.localhost', nodeId: '', holdMs: 30_000 }));
  const rows = await prisma.site.findMany({ where: { name: { in: [left, used, reserved] } } });
  expect(new Set(rows.map(({ name }) => name))).toEqual(new Set([used, reserved]));
});

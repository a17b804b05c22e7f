// What the database gives for a filter is what CEL says of each row.

import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { shortened } from '../support/shortened.ts';
import { filtersOn, judged, LABELS, type MemberKind, type ShownRow, TEXT, TEXTS, TIME } from './random-filters.ts';

const ROWS = 40;
const RUNS = shortened([3, 8]).at(-1) ?? 0;
/** In one document. */
const FILTERS = 15;

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

const notes = { description: TEXT, metadata: TEXT, createdAt: TIME };
const noted = ({ id, createdAt, description, metadata }: NotedRow): ShownRow => ({
  ...{ id, description, metadata },
  created_at: createdAt,
});
interface NotedRow {
  id: string;
  createdAt: Date;
  description: string;
  metadata: string;
}
const notedKinds: Record<string, MemberKind> = { id: 'id', created_at: 'time', description: 'text', metadata: 'text' };

function sampled<T>(prefix: string, shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.sample(fc.record(shape as never) as fc.Arbitrary<T>, ROWS).map((row) => {
    const id = newId(prefix);
    return { ...row, id, accountId: account.accountId };
  });
}

test('credentials: texts, times, ids and lists', async () => {
  const { ownerId } = account;
  const rows = sampled('cr', { ...notes, acl: TEXTS }).map((row) => ({ ...row, ownerId, digest: row.id }));
  await gateway.app.prisma.credential.createMany({ data: rows });
  const shown = rows.map((row) => ({ ...noted(row), acl: row.acl, owner_id: ownerId }));
  await agrees('credentials', shown, { ...notedKinds, acl: 'texts', owner_id: 'id' });
});

test('API keys: a time that may be null', async () => {
  const { ownerId } = account;
  // Otherwise the first use of the account's own key may be noted between a page and its count.
  await gateway.app.prisma.apiKey.updateMany({ where: { ownerId }, data: { lastUsedAt: new Date() } });
  const rows = sampled('ak', { ...notes, lastUsedAt: fc.option(TIME) }).map((row) => ({
    ...row,
    ownerId,
    digest: row.id,
  }));
  await gateway.app.prisma.apiKey.createMany({ data: rows });
  const shown = rows.map((row) => ({ ...noted(row), last_used_at: row.lastUsedAt }));
  await agrees('apiKeys', shown, { ...notedKinds, last_used_at: 'time' });
});

test('tunnels: texts that may be null, and labels', async () => {
  const { accountId } = account;
  // Nodes that are gone are left behind by other tests.
  const live = { where: { leaseUntil: { gt: new Date() } } };
  const { id: nodeId } = await gateway.app.prisma.node.findFirstOrThrow(live);
  const session = { id: newId('ts'), accountId, nodeId, clientId: 'c' };
  await gateway.app.prisma.tunnelSession.create({ data: session });
  const rows = sampled('tn', {
    ...{ startedAt: TIME, metadata: TEXT, labels: LABELS },
    ...{ proto: fc.option(fc.constantFrom('http', 'tcp')), publicUrl: fc.option(TEXT) },
  }).map((row) => ({ ...row, sessionId: session.id }));
  await gateway.app.prisma.tunnel.createMany({ data: rows });
  const shown = rows.map(({ id, startedAt, metadata, labels, proto, publicUrl }) => ({
    ...{ id, metadata, labels, proto },
    ...{ started_at: startedAt, public_url: publicUrl, tunnel_session: { id: session.id } },
  }));
  await agrees('tunnels', shown, {
    ...{ id: 'id', metadata: 'text', labels: 'labels', proto: 'text', started_at: 'time', public_url: 'text' },
    'tunnel_session.id': 'id',
  });
});

test('endpoints: texts and ids in rows of other tables, which may not be there', async () => {
  const { accountId, ownerId } = account;
  const { prisma } = gateway.app;
  const { id: nodeId } = await prisma.node.findFirstOrThrow({ where: { leaseUntil: { gt: new Date() } } });
  const credential = { id: newId('cr'), accountId, ownerId, digest: newId('cr') };
  await prisma.credential.create({ data: credential });
  const sessions = [credential.id, null].map((credentialId) => ({ credentialId, id: newId('ts') }));
  for (const { id, credentialId } of sessions)
    await prisma.tunnelSession.create({ data: { id, accountId, nodeId, credentialId, clientId: id } });
  const shown: ShownRow[] = [];
  const rows = sampled('ep', { name: TEXT, description: TEXT, forwardsTo: TEXT });
  for (const [index, { id, name, description, forwardsTo }] of rows.entries()) {
    const session = sessions[index % 3];
    const edge = { id: newId('edghts'), accountId, kind: 'HTTPS', name, description } as const;
    const tunnel = { id: newId('tn'), accountId, sessionId: session?.id ?? '', name, forwardsTo };
    if (session) await prisma.tunnel.create({ data: tunnel });
    else await prisma.edge.create({ data: edge });
    const by = session
      ? { type: 'EPHEMERAL' as const, tunnelId: tunnel.id, nodeId }
      : { type: 'EDGE' as const, edgeId: edge.id };
    await prisma.endpoint.create({ data: { id, accountId, ...by, proto: 'http', publicUrl: id, hostport: id } });
    shown.push({
      ...{ id, name, description: session ? '' : description, upstream_url: session ? forwardsTo : '' },
      ...{ tunnel_session: { id: session?.id ?? null }, credential: { id: session?.credentialId ?? null } },
      principal: { id: session?.credentialId ? ownerId : null },
    });
  }
  await agrees('endpoints', shown, {
    ...{ id: 'id', name: 'text', description: 'text', upstream_url: 'text' },
    ...{ 'tunnel_session.id': 'id', 'credential.id': 'id', 'principal.id': 'id' },
  });
});

test('rules of IP policies: choices', async () => {
  const { accountId } = account;
  const policy = { id: newId('ipp'), accountId };
  await gateway.app.prisma.ipPolicy.create({ data: policy });
  const rows = sampled('ipr', { ...notes, action: fc.constantFrom('ALLOW' as const, 'DENY' as const) }).map(
    (row, index) => ({
      ...row,
      policyId: policy.id,
      cidr: `10.0.${index}.0/24`,
    }),
  );
  await gateway.app.prisma.ipPolicyRule.createMany({ data: rows });
  const shown = rows.map((row) => ({
    ...noted(row),
    ...{ action: row.action.toLowerCase(), cidr: row.cidr, ip_policy: { id: policy.id } },
  }));
  await agrees('ipPolicyRules', shown, { ...notedKinds, action: 'choice', cidr: 'text', 'ip_policy.id': 'id' });
});

test('users: true and false', async () => {
  const rows = sampled('usr', { active: fc.boolean(), role: fc.constantFrom('ADMIN' as const, 'MEMBER' as const) }).map(
    (row, index) => ({ ...row, kind: 'USER' as const, subject: `${index}@a.example` }),
  );
  await gateway.app.prisma.owner.createMany({ data: rows });
  const shown = rows.map(({ id, active, role, subject }) => ({ id, active, role: role.toLowerCase(), email: subject }));
  await agrees('users', shown, { id: 'id', active: 'boolean', role: 'choice', email: 'text' });
});

test('TLS certificates: texts inside JSON', async () => {
  const rows = sampled('cert', { ...notes, commonName: TEXT, dnsNames: TEXTS }).map(({ commonName, ...row }) => ({
    ...row,
    ...{ subject: { commonName }, ips: [], keyUsages: [], extendedKeyUsages: [] },
    ...{ certificatePem: '', privateKey: '', issuerCommonName: '', serialNumber: '', privateKeyType: '' },
    ...{ notBefore: row.createdAt, notAfter: row.createdAt },
  }));
  await gateway.app.prisma.tlsCertificate.createMany({ data: rows });
  const shown = rows.map((row) => ({
    ...noted(row),
    ...{ subject_common_name: row.subject.commonName, subject_alternative_names: { dns_names: row.dnsNames } },
  }));
  await agrees('tlsCertificates', shown, {
    ...{ ...notedKinds, subject_common_name: 'json text' },
    'subject_alternative_names.dns_names': 'texts',
  });
});

/** Other rows that the account has are left out. */
async function agrees(list: string, rows: ShownRow[], members: Record<string, MemberKind>): Promise<void> {
  const ids = new Set(rows.map(({ id }) => id));
  const filters = fc.array(filtersOn(members, rows), { minLength: FILTERS, maxLength: FILTERS });
  await fc.assert(
    fc.asyncProperty(filters, async (each) => {
      const fields = each.map(
        (filter, i) => `_${i}: ${list}(filter: ${JSON.stringify(filter)}) { totalCount nodes { id } }`,
      );
      const { body } = await account.graphql(`{ ${fields.join(' ')} }`);
      expect(body.errors).toBeUndefined();
      for (const [i, filter] of each.entries()) {
        const { nodes, totalCount } = body.data[`_${i}`] as { nodes: { id: string }[]; totalCount: number };
        const found = nodes.map(({ id }) => id).filter((id) => ids.has(id));
        expect([filter, found.sort()]).toEqual([filter, judged(filter, rows).sort()]);
        expect(totalCount).toBe(nodes.length);
      }
    }),
    { numRuns: RUNS },
  );
}

// What accounts configure, as rows: for tests of what the store makes of them, without an API.

import { randomBytes } from 'node:crypto';
import { readConfig } from '../../../src/config/config.ts';
import { type Change, Changes } from '../../../src/store/changes/changes.ts';
import { openClient } from '../../../src/store/database/client.ts';
import { openDatabase } from '../../../src/store/database/open-database.ts';
import type { EdgeKind } from '../../../src/store/generated/prisma/enums.ts';
import { newId } from '../../../src/store/ids.ts';
import { deriveKeys } from '../../../src/store/keys/keys.ts';
import { newPlace } from '../../support/gateway/place.ts';
import { root } from '../../support/root.ts';

export type Store = Awaited<ReturnType<typeof openStore>>;

let shared: Promise<Store> | undefined;

/** A database that the test files of a worker share, in accounts of their own. Nobody closes it: it ends with the worker. */
export function sharedStore(): Promise<Store> {
  shared ??= openStore();
  return shared;
}

async function openStore() {
  const place = await newPlace();
  const { pool } = await openDatabase(readConfig(place.env, root), { onFatal: () => {} });
  const statements: string[] = [];
  const prisma = openClient(pool, (statement) => void statements.push(statement));
  return {
    prisma,
    changes: new Changes(),
    keys: deriveKeys(randomBytes(32)),
    baseUrl: () => 'http://gateway.example.com',
    scope: { baseDomain: 'tunnel.localhost', managesCertificates: false },
    /** Every one since the start; empty it to count anew. */
    statements,
  };
}

/** The account of a test: nobody else sees what is in it. */
export async function newAccount({ prisma }: Store) {
  const accountId = newId('ac');
  await prisma.account.create({ data: { id: accountId } });
  const own = { accountId };
  const label = randomBytes(4).toString('hex');
  return {
    accountId,
    /** A name of this account alone. */
    name: (text: string) => `${text}.${label}.example.com`,
    async backend(labels: object) {
      const id = newId('bkdtg');
      await prisma.backend.create({ data: { ...own, id, labels } });
      return id;
    },
    async domain(domain: string, more: object = {}) {
      const id = newId('rd');
      await prisma.reservedDomain.create({ data: { ...own, ...more, id, domain } });
      return id;
    },
    /** An edge that answers these names, which it reserves. */
    async edge(kind: EdgeKind, names: string[], more: object = {}) {
      const id = newId(kind === 'HTTPS' ? 'edghts' : 'edgtls');
      await prisma.edge.create({ data: { ...own, ...more, id, kind } });
      for (const [position, name] of names.entries()) {
        const domainId = await this.domain(name);
        await prisma.edgeHostport.create({ data: { hostport: `${name}:443`, edgeId: id, domainId, position } });
      }
      return id;
    },
    async route(edgeId: string, match: string, more: object = {}) {
      const id = newId('edghtsrt');
      await prisma.route.create({ data: { ...own, ...more, id, edgeId, matchType: 'PATH_PREFIX', match } });
      return id;
    },
    async policy(...rules: [action: 'ALLOW' | 'DENY', cidr: string][]) {
      const id = newId('ipp');
      await prisma.ipPolicy.create({ data: { ...own, id } });
      for (const [action, cidr] of rules)
        await prisma.ipPolicyRule.create({ data: { ...own, id: newId('ipr'), policyId: id, action, cidr } });
      return id;
    },
  };
}

/** Changes as they are announced, from now on. */
export function heard({ changes }: Pick<Store, 'changes'>): Change[] {
  const all: Change[] = [];
  changes.listen((change) => void all.push(change));
  return all;
}

// Rotates the server key of stored secrets: everything that the previous key encrypted is encrypted with the current one.

import type { OrderUnderWay } from '../../acme/jobs/job.ts';
import type { ModuleDescriptor } from '../../edge/modules/descriptor.ts';
import { resealChannels } from '../alerts/channel-secrets.ts';
import { resealAccounts } from '../certificates/acme-accounts.ts';
import { openOrder, sealOrder } from '../certificates/job-rows.ts';
import type { Db } from '../database/client.ts';
import { storedModule, writeStoredModules } from '../edges/module-rows.ts';
import { openModule, sealModule } from '../edges/module-secrets.ts';
import { openTarget, sealTarget } from '../events/target.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Keys } from '../keys/keys.ts';
import { openPrivateKey, sealPrivateKey } from '../keys/private-keys.ts';
import { resealClusterAuthority } from '../nodes/cluster-authority.ts';
import { resealSecretValues } from '../secrets/secret-values.ts';
import { resealSecondFactors } from '../sign-in/second-factors.ts';
import { resealAppSessions } from '../visitors/app-session-rows.ts';

const owner = { id: true, accountId: true } as const;
const id = { id: true } as const;

/** Encrypts all stored secrets with the current key. After it, the previous key is needed only for digests. */
export async function resealSecrets(db: Db, keys: Keys, descriptors: readonly ModuleDescriptor[]): Promise<void> {
  for (const row of await db.eventDestination.findMany({ select: { ...owner, target: true } })) {
    const target = sealTarget(keys, { ...row, target: openTarget(keys, row) });
    await db.eventDestination.update({ where: { id: row.id }, data: { target }, select: id });
  }
  for (const row of await db.tlsCertificate.findMany({ select: { ...owner, privateKey: true } })) {
    const privateKey = sealPrivateKey(keys, row, openPrivateKey(keys, row));
    await db.tlsCertificate.update({ where: { id: row.id }, data: { privateKey }, select: id });
  }
  await resealAccounts(db, keys);
  await resealChannels(db, keys);
  await resealSecretValues(db, keys);
  await resealSecondFactors(db, keys);
  await resealAppSessions(db, keys);
  const isOrdering = { NOT: { order: { equals: Prisma.DbNull } } };
  for (const { id: jobId, order } of await db.managedCertificate.findMany({ where: isOrdering })) {
    const opened = openOrder(keys, jobId, order as OrderUnderWay | null);
    if (opened)
      await db.managedCertificate.update({
        where: { id: jobId },
        data: { order: sealOrder(keys, jobId, opened) },
        select: id,
      });
  }
  await resealClusterAuthority(db, keys);
  const where = { NOT: { modules: { equals: {} } } };
  const select = { ...owner, modules: true } as const;
  for (const row of await db.route.findMany({ where, select })) await resealModules('route', row);
  for (const row of await db.edge.findMany({ where, select })) await resealModules('edge', row);

  async function resealModules(table: 'route' | 'edge', row: { id: string; accountId: string; modules: unknown }) {
    const place = { table, id: row.id, accountId: row.accountId };
    const sealed = descriptors.flatMap((descriptor) => {
      const stored = descriptor.mapSecrets && storedModule(row, descriptor);
      if (!stored) return [];
      return [[descriptor.key, sealModule(keys, place, descriptor, openModule(keys, place, descriptor, stored))]];
    });
    if (sealed.length > 0) await writeStoredModules(db, table, row.id, Object.fromEntries(sealed));
  }
}

// The second half of a change of the server key: everything that the previous key sealed.

import type { BasicAuthSettings, WebhookVerificationSettings } from '../../edge/modules/settings.ts';
import type { Db } from '../database/client.ts';
import { openModule, type SecretOwner, sealModule } from '../edges/module-secrets.ts';
import { type StoredPolicy, sealPolicyAnew } from '../edges/policy-secrets.ts';
import { openTarget, sealTarget } from '../events/target.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Keys } from './keys.ts';
import { openPrivateKey, sealPrivateKey } from './private-keys.ts';

const owner = { id: true, accountId: true } as const;
const id = { id: true } as const;

/** What the previous key sealed, the current one seals; afterwards the previous key is needed for digests only. */
export async function resealSecrets(db: Db, keys: Keys): Promise<void> {
  for (const row of await db.eventDestination.findMany({ select: { ...owner, target: true } })) {
    const target = sealTarget(keys, { ...row, target: openTarget(keys, row) });
    await db.eventDestination.update({ where: { id: row.id }, data: { target }, select: id });
  }
  for (const row of await db.tlsCertificate.findMany({ select: { ...owner, privateKey: true } })) {
    const privateKey = sealPrivateKey(keys, row, openPrivateKey(keys, row));
    await db.tlsCertificate.update({ where: { id: row.id }, data: { privateKey }, select: id });
  }
  const isSet = { not: Prisma.DbNull };
  const where = { OR: [{ webhookVerification: isSet }, { basicAuth: isSet }, { trafficPolicy: isSet }] };
  const select = { ...owner, webhookVerification: true, basicAuth: true, trafficPolicy: true } as const;
  for (const row of await db.route.findMany({ where, select })) {
    const data = {
      webhookVerification: anew(keys, row, row.webhookVerification),
      basicAuth: anew(keys, row, row.basicAuth),
      trafficPolicy: policyAnew(keys, 'route', row),
    };
    await db.route.update({ where: { id: row.id }, data, select: id });
  }
  const ofEdge = { where: { trafficPolicy: isSet }, select: { ...owner, trafficPolicy: true } } as const;
  for (const row of await db.edge.findMany(ofEdge)) {
    const trafficPolicy = policyAnew(keys, 'edge', row);
    await db.edge.update({ where: { id: row.id }, data: { trafficPolicy }, select: id });
  }
}

function policyAnew(keys: Keys, table: 'route' | 'edge', row: SecretOwner & { trafficPolicy: unknown }) {
  const { id, accountId, trafficPolicy } = row;
  if (trafficPolicy === null) return undefined;
  const stored = trafficPolicy as StoredPolicy; // Only `sealPolicy` makes what is stored.
  return { ...sealPolicyAnew(keys, { table, id, accountId }, stored) };
}

/** @returns undefined, which leaves it as it is, for a module that is not set. */
function anew(keys: Keys, row: SecretOwner, stored: unknown): object | undefined {
  if (stored === null) return undefined;
  const module = stored as WebhookVerificationSettings | BasicAuthSettings; // Only `sealModule` makes what is stored.
  return sealModule(keys, row, openModule(keys, row, module));
}

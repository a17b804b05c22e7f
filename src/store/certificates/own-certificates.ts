// The certificates that the gateway obtained for its own names.

import type { PrismaClient } from '../database/client.ts';
import type { Keys } from '../keys/keys.ts';
import { openPrivateKey } from '../keys/private-keys.ts';

/** @returns the certificate for a name, of the name itself or the wildcard over it, in PEM; undefined when there is none in force. */
export async function ownCertificate(
  prisma: PrismaClient,
  keys: Keys,
  name: string,
): Promise<{ cert: string; key: string } | undefined> {
  const row = await prisma.tlsCertificate.findFirst({
    where: inForce(name, Date.now()),
    orderBy: { notAfter: 'desc' },
  });
  return row ? { cert: row.certificatePem, key: openPrivateKey(keys, row) } : undefined;
}

/** Whether there is one. @param now in milliseconds since 1970. */
export async function hasOwnCertificate(prisma: PrismaClient, name: string, now: number): Promise<boolean> {
  return (await prisma.tlsCertificate.count({ where: inForce(name, now) })) > 0;
}

function inForce(name: string, now: number) {
  const names = [name, `*${name.slice(name.indexOf('.'))}`];
  return { accountId: '', dnsNames: { hasSome: names }, notAfter: { gt: new Date(now) } };
}

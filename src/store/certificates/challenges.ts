// The challenges of certificate authorities that are answered now.

import type { ChallengeKind } from '../../acme/jobs/job.ts';
import type { Db } from '../database/client.ts';
import { namesCovering, nearest } from '../domains/reservations.ts';

/** Those whose time is over are of jobs that nobody works on any more. */
const isAwaited = () => ({ expiresAt: { gt: new Date() } });

/** What answers a challenge; undefined when it is not expected. @param name lower case. @param token '' where there is none. */
export async function findChallenge(
  db: Db,
  { kind, name, token }: { kind: ChallengeKind; name: string; token: string },
): Promise<string | undefined> {
  const row = await db.acmeChallenge.findFirst({
    where: { name, kind, token, ...isAwaited() },
    select: { value: true },
  });
  return row?.value;
}

/** What says whose names are. */
export interface ChallengeScope {
  baseDomain: string;
  /** Whether the gateway obtains certificates. */
  managesCertificates: boolean;
}

/**
 * The account whose service may answer challenges for a name: the one that has reserved it, while the gateway obtains no certificate
 * for it, and none of its own covers it. Undefined for all other names. @param name lower case.
 */
export async function findChallengeHolder(
  db: Db,
  name: string,
  { baseDomain, managesCertificates }: ChallengeScope,
): Promise<string | undefined> {
  const names = [name, `*${name.slice(name.indexOf('.'))}`];
  const managed = managesCertificates ? await db.managedCertificate.count({ where: { names: { hasSome: names } } }) : 0;
  if (managed > 0) return undefined;
  const covering = namesCovering(name, baseDomain);
  const rows = await db.reservedDomain.findMany({
    where: { domain: { in: covering } },
    select: { accountId: true, domain: true },
  });
  return nearest(rows, covering)?.accountId;
}

/** The texts that a TXT record has; undefined when no domain has its challenges there. @param name lower case. */
export async function findTexts(db: Db, name: string): Promise<string[] | undefined> {
  const rows = await db.acmeChallenge.findMany({
    where: { name, kind: 'dns-01', ...isAwaited() },
    select: { value: true },
  });
  if (rows.length > 0) return rows.map(({ value }) => value);
  const domain = await db.reservedDomain.findFirst({ where: { acmeChallengeCnameTarget: name }, select: { id: true } });
  return domain ? [] : undefined;
}

/** Whether a domain is to lead to this name. @param name lower case. */
export async function isCnameTarget(db: Db, name: string): Promise<boolean> {
  return (await db.reservedDomain.count({ where: { cnameTarget: name } })) > 0;
}

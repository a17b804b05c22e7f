// The challenges of certificate authorities that are answered now.

import type { ChallengeKind } from '../../acme/jobs/job.ts';
import type { Db } from '../database/client.ts';

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

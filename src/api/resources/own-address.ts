// Keeps callers from locking themselves out: what would have an IP restriction refuse the address that they ask from is refused.

import { isIPv6 } from 'node:net';
import { addressCheck } from '../../edge/modules/address-rules.ts';
import type { Db } from '../../store/database/client.ts';
import { readRestrictions } from '../../store/restrictions/restriction-source.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';

/**
 * Does a write of restrictions or of the rules of IP policies, in the transaction of `db`.
 * @throws {ApiError} when a restriction of the API or of the dashboard would refuse the caller's address from then on, and did not
 * before.
 */
export async function keepingOwnAddress<T>(
  { accountId, client }: Context,
  db: Db,
  write: () => Promise<T>,
): Promise<T> {
  const before = await refusals(db, accountId, client.ip);
  const result = await write();
  const [added] = (await refusals(db, accountId, client.ip)).filter(({ id }) => !before.some((one) => one.id === id));
  if (!added) return result;
  const { what, reason } = added;
  const network = `${client.ip}/${isIPv6(client.ip) ? 128 : 32}`;
  throw new ApiError('restrictionLocksOut', { what, reason, network });
}

/** The enforced restrictions that refuse an address. */
async function refusals(
  db: Db,
  accountId: string,
  ip: string,
): Promise<{ id: string; what: string; reason: string }[]> {
  const restrictions = await readRestrictions(db, { accountId, enforced: true, type: { in: ['API', 'DASHBOARD'] } });
  return restrictions.flatMap((restriction) => {
    const reason = addressCheck(restriction)(ip);
    const what = restriction.type === 'api' ? 'the API' : 'the dashboard';
    return reason === undefined ? [] : { id: restriction.id, what, reason };
  });
}

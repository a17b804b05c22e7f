// The name of an edge that is to be published: what is in its way, and which reservation it comes under.

import { reservedFor } from '../../../store/domains/reservations.ts';
import { servedNames } from '../../../store/tunnels/claims.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkDomainFree } from '../domains/conflicting-domains.ts';
import { type DomainName, readDomainName } from '../domains/domain-name.ts';
import { writeHostports } from '../edges/hostports.ts';

export interface EdgeName extends DomainName {
  /** The reservation of the account that it comes under; null: it has to be reserved. */
  domainId: string | null;
}

/** @throws {ApiError} saying what is in the way of an edge with this name, in the words of the member `host`. */
export async function readEdgeName(host: string, context: Context): Promise<EdgeName> {
  try {
    return await findEdgeName(host, context);
  } catch (error) {
    if (!(error instanceof ApiError) || error.parameters.member === undefined) throw error;
    throw new ApiError(error.row, { ...error.parameters, member: 'host' });
  }
}

async function findEdgeName(host: string, context: Context): Promise<EdgeName> {
  const { db, accountId, app } = context;
  const name = readDomainName(host, app.config);
  const domainId = await reservedFor(db, accountId, name.domain);
  if (domainId !== null) {
    await writeHostports('httpsEdge', [`${name.domain}:443`], context, db, '');
  } else {
    await checkDomainFree(db, accountId, name, app.config);
    // Without a reservation, no cloud endpoint can have it.
    const [served] = (await servedNames(db, accountId, [name.domain])).keys();
    if (served !== undefined) throw new ApiError('hostportServed', { member: 'host', domain: served });
  }
  return { ...name, domainId };
}

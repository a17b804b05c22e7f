// Pages of the request log: of all of an account, and of each endpoint.

import { LOG_PREFIX, type LogEntry } from '../../../request-log/log-entry.ts';
import type { LogSlice } from '../../../request-log/log-query.ts';
import { builder } from '../../builder/builder.ts';
import { type ConnectionPage, connectionOf, type PageArguments, readPage } from '../../collections/page.ts';
import { LoggedRequestType } from './logged-request-type.ts';

/** As the nodes of the gateway answered. */
interface LogPage extends ConnectionPage {
  isPartial: boolean | null;
}

/** The end of the log that is read, and what of it is beyond the cursor that was given. */
export interface LogPart extends LogSlice {
  before: string | null;
  after: string | null;
}

/** What was found there. */
interface FoundEntries {
  entries: readonly LogEntry[];
  isPartial: boolean | null;
}

export const RequestLogConnection = connectionOf(LoggedRequestType, 'RequestLog', {
  isInRest: false,
  isCounted: false,
});

builder.objectField(RequestLogConnection, 'partial', (t) =>
  t.boolean({
    nullable: true,
    description:
      'Whether a node of the gateway did not answer within a second: what it has is missing. Null where the node that ' +
      'answers has no links to others, and tells of itself alone.',
    resolve: (page) => (page as LogPage).isPartial, // There are no other pages of it.
  }),
);

/**
 * Reads a page of the log.
 * @param find reads a part of it, in the order in which it says.
 * @throws {ApiError} when an argument cannot be used.
 */
export async function readLogPage(
  args: PageArguments,
  find: (part: LogPart) => Promise<FoundEntries>,
): Promise<LogPage> {
  let isPartial: boolean | null = null;
  const page = await readPage(
    args,
    { prefix: LOG_PREFIX, path: '' },
    async ({ where, orderBy, take }) => {
      const isFromOldest = orderBy[0]?.id === 'asc';
      const part = { limit: take, isFromOldest, before: where.id?.lt ?? null, after: where.id?.gt ?? null };
      const found = await find(part);
      isPartial = found.isPartial;
      return [...found.entries];
    },
    async () => 0, // These pages have no count.
  );
  return { ...page, isPartial };
}

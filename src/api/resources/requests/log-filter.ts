// Which logged requests are asked for.

import type { LogQuery } from '../../../request-log/log-query.ts';
import { builder } from '../../builder/builder.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';

const STATUSES_MAX = 20;
const TEXT_MAX = 200;
/** The most names of an edge that are looked at. */
const EDGE_NAMES_MAX = 1000;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

export const logFilterArguments = builder.args((t) => ({
  endpointId: t.id({ description: 'Only those to this endpoint, which may be offline by now: `ep_…`.' }),
  edgeId: t.id({ description: 'Only those to the names of this edge: `edghts_…`.' }),
  status: t.intList({ description: 'Only those that were answered with one of these; at most 20.' }),
  statusClasses: t.intList({
    description: 'Only those of these classes, as `5` for 500 to 599; `0` stands for requests without an answer.',
  }),
  refused: t.boolean({
    description: 'Only those that the gateway itself answered or cut; when false, only the others.',
  }),
  method: t.string({ description: 'Only those with this method, in any case of letters.' }),
  text: t.string({
    description:
      'Only those with this text in host and path, user agent, address, operation id, or reason of the refusal; in any ' +
      'case of letters, at most 200 characters.',
  }),
  from: t.string({ description: 'Only those that were over at this time or later, as `2026-01-31T12:00:00Z`.' }),
  to: t.string({ description: 'Only those that were over at this time or earlier, likewise.' }),
}));

interface LogFilter {
  endpointId?: string | null | undefined;
  edgeId?: string | null | undefined;
  status?: readonly number[] | null | undefined;
  statusClasses?: readonly number[] | null | undefined;
  refused?: boolean | null | undefined;
  method?: string | null | undefined;
  text?: string | null | undefined;
  from?: string | null | undefined;
  to?: string | null | undefined;
}

/** The query of the caller's account. @throws {ApiError} when something is not right. */
export async function logQueryOf(context: Context, filter: LogFilter): Promise<LogQuery> {
  const { status = null, statusClasses = null, refused = null, method = null, text = null } = filter;
  const isClass = (each: number) => each >= 0 && each <= 5;
  const { endpointIds, from, to } = await checkAll({
    status() {
      if ((status?.length ?? 0) > STATUSES_MAX)
        throw new ApiError('tooManyStatuses', { member: 'status', max: STATUSES_MAX });
    },
    statusClasses() {
      if (!statusClasses?.every(isClass) && statusClasses)
        throw new ApiError('badStatusClass', { member: 'statusClasses' });
    },
    method: () => checkLogText('method', method),
    text: () => checkLogText('text', text),
    endpointIds: () => endpointIdsOf(context, filter),
    from: () => timeOf('from', filter.from),
    to: () => timeOf('to', filter.to),
  });
  return {
    accountId: context.accountId,
    endpointIds,
    ...{ status, statusClasses, refused },
    method: method || null,
    text: text || null,
    from,
    to,
  };
}

function checkLogText(member: string, value: string | null): void {
  if (value && value.length > TEXT_MAX) throw new ApiError('logTextTooLong', { member, max: TEXT_MAX });
}

/** @throws {ApiError} when the account has no such edge, or no such endpoint, nor had one whose requests are in the log. */
async function endpointIdsOf(context: Context, { endpointId, edgeId }: LogFilter): Promise<string[] | null> {
  const { accountId, app, db } = context;
  if (
    endpointId != null &&
    !(await db.endpoint.findUnique({ where: { id: endpointId, accountId }, select: { id: true } }))
  ) {
    const { entries } = await app.requestLog.newest({ accountId, endpointIds: [endpointId] }, 1);
    requireFound(entries[0], 'endpoint');
  }
  if (edgeId == null) return endpointId == null ? null : [endpointId];
  requireFound(await db.edge.findUnique({ where: { id: edgeId, accountId }, select: { id: true } }), 'edge');
  const where = { edgeId, accountId, ...(endpointId == null ? {} : { id: endpointId }) };
  const rows = await db.endpoint.findMany({ where, select: { id: true }, take: EDGE_NAMES_MAX });
  return rows.map(({ id }) => id);
}

function timeOf(member: string, text: string | null | undefined): number | null {
  if (text == null) return null;
  const time = RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new ApiError('badTime', { member });
  return time;
}

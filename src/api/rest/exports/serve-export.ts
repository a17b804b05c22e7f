// Downloads of lists as CSV or JSON lines, of any length: a page is read when the one before has left.

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import type { ApiExchange } from '../../exchange.ts';
import type { Admit } from '../../http/admission.ts';
import { checkPreconditions } from '../../http/request-head.ts';
import { recordError } from '../../http/responses.ts';
import { csvLine } from './csv.ts';
import { type ExportQuery, readExportQuery } from './export-query.ts';
import type { ExportedList } from './exported-lists.ts';
import { type Row, type RowPage, readPages } from './read-rows.ts';

/** Downloads of one account at once, at each node. */
const EXPORTS_MAX = 2;
const RETRY_SECONDS = 5;

const contentTypes = { csv: 'text/csv; charset=utf-8; header=present', jsonl: 'application/jsonl; charset=utf-8' };

export type ServeExport = (exchange: ApiExchange) => Promise<void>;

/** What answers to the downloads, by path. */
export function exportHandlers(lists: readonly ExportedList[], admit: Admit): ReadonlyMap<string, ServeExport> {
  const running = new Map<string, number>();
  const serve = async (list: ExportedList, exchange: ApiExchange) => {
    const context = await admit(exchange);
    checkPreconditions(exchange.request);
    const query = readExportQuery(exchange.request.url ?? '', list);
    const { accountId } = context;
    const count = running.get(accountId) ?? 0;
    if (count >= EXPORTS_MAX) throw new ApiError('tooManyExports', { max: EXPORTS_MAX, seconds: RETRY_SECONDS });
    running.set(accountId, count + 1);
    try {
      await send(list, query, context, exchange);
    } finally {
      const left = (running.get(accountId) ?? 1) - 1;
      if (left === 0) running.delete(accountId);
      else running.set(accountId, left);
    }
  };
  return new Map(
    lists.map((list) => [
      list.path,
      (exchange) => {
        exchange.log.operation = `${list.list.plural}Export`;
        return serve(list, exchange);
      },
    ]),
  );
}

async function send(list: ExportedList, query: ExportQuery, context: Context, exchange: ApiExchange): Promise<void> {
  const { response } = exchange;
  const { format, filter, order, search } = query;
  const pages = readPages(list, { filter, order, search }, context);
  // What is wrong with the request shows in the first page, and is answered as everywhere.
  const first = await pages.next();
  const { rows, total } = first.value as RowPage;
  await record(list, query, context, total);
  const date = new Date(context.app.now()).toISOString().slice(0, 10);
  const name = list.list.path.slice(1).replaceAll('/', '_');
  response.setHeader('Content-Type', contentTypes[format]);
  response.setHeader('Content-Disposition', `attachment; filename="${name}-${date}.${format}"`);
  response.setHeader('Cache-Control', 'no-store');
  if (exchange.request.method === 'HEAD') return void response.end();
  // A file that has not ended must not look as if it had: what fails on the way ends the connection.
  await pipeline(Readable.from(texts(rows, pages, query, list), { highWaterMark: 1 }), response).catch((error) => {
    if (!isDisconnect(error)) recordError(exchange, error);
    response.destroy();
  });
}

async function* texts(first: Row[], rest: AsyncIterable<RowPage>, query: ExportQuery, list: ExportedList) {
  const { format, columns } = query;
  const names = columns ?? list.columns;
  const lineOf = (row: Row) =>
    format === 'csv'
      ? csvLine(names.map((name) => valueAt(row, name)))
      : `${JSON.stringify(columns ? pick(row, columns) : row)}\n`;
  if (format === 'csv') yield csvLine(names);
  if (first.length > 0) yield first.map(lineOf).join('');
  for await (const { rows } of rest) if (rows.length > 0) yield rows.map(lineOf).join('');
}

function valueAt(row: Row, column: string): unknown {
  return column.split('.').reduce<unknown>((value, name) => (value as Row | null | undefined)?.[name], row);
}

/** These members of a row, in objects as they are there. */
function pick(row: Row, columns: readonly string[]): Row {
  const picked: Row = {};
  for (const column of columns) {
    const [name = '', ...rest] = column.split('.');
    const value = row[name];
    if (rest.length === 0 || value === null) picked[name] = value ?? null;
    else picked[name] = { ...(picked[name] as Row), ...pick(value as Row, [rest.join('.')]) };
  }
  return picked;
}

/** Who took what along is kept before anything leaves. */
function record(
  { list }: ExportedList,
  { format, filter, search, order, columns }: ExportQuery,
  context: Context,
  count: number | undefined,
): Promise<void> {
  const after = { list: list.plural, format, filter, search, order_by: order, columns, count };
  return context.record({ action: 'LIST_EXPORTED', kind: list.kind, objectId: '', objectName: list.plural, after });
}

function isDisconnect(error: unknown): boolean {
  return (error as { code?: string }).code === 'ERR_STREAM_PREMATURE_CLOSE';
}

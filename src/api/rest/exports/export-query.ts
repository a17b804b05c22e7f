// What the address of a download asks for.

import { ApiError } from '../../errors/errors.ts';
import type { ExportedList } from './exported-lists.ts';

export interface ExportQuery {
  format: 'csv' | 'jsonl';
  filter?: string;
  search?: string;
  order?: string;
  /** Left out: all. */
  columns?: readonly string[];
}

/** The parameters, with what they are for: OpenAPI shows it. */
export const exportParameters = {
  format: '`csv` or `jsonl`, an object a line; `csv` when left out.',
  filter: 'Only what this expression in CEL is true for, as in the list.',
  search: 'Only what has all of these words, as in the list.',
  order_by: 'In which order, as in the list.',
  columns: 'Which members, by their names in CSV and with commas between them; all when left out.',
} as const;

/** @throws {ApiError} when a parameter is not one, or cannot be used. */
export function readExportQuery(url: string, { columns: known }: Pick<ExportedList, 'columns'>): ExportQuery {
  const [, text = ''] = /\?(.*)$/s.exec(url) ?? [];
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (!Object.hasOwn(exportParameters, name))
      throw new ApiError('unknownParameter', { culprit: name, known: Object.keys(exportParameters).join(', ') });
    if (given.has(name)) throw new ApiError('repeatedParameter', { culprit: name });
    given.set(name, value);
  }
  const format = given.get('format') || 'csv';
  if (format !== 'csv' && format !== 'jsonl') throw new ApiError('badExportFormat', { member: 'format' });
  const columns = given.get('columns')?.split(',');
  const column = columns?.find((name) => !known.includes(name));
  if (column !== undefined)
    throw new ApiError('unknownExportColumn', { member: 'columns', column, known: known.join(', ') });
  return { format, filter: given.get('filter'), search: given.get('search'), order: given.get('order_by'), columns };
}

// The filter of captured requests. It is part of the URL, so that the back button restores it.

import { useLocation } from 'preact-iso/router';
import type { CapturedRowFragment } from '../../generated/operations.ts';

export interface Filter {
  text: string;
  /** A key of `statusFilters`. */
  status: string;
}

type Row = CapturedRowFragment;

export const statusFilters: Record<string, { title: string; matches: (row: Row) => boolean }> = {
  all: { title: 'Every status', matches: () => true },
  '2xx': { title: '2xx: done', matches: ({ status }) => isInClass(status, 200) },
  '3xx': { title: '3xx: elsewhere', matches: ({ status }) => isInClass(status, 300) },
  '4xx': { title: '4xx: the visitor’s mistake', matches: ({ status }) => isInClass(status, 400) },
  '5xx': { title: '5xx: the service’s mistake', matches: ({ status }) => isInClass(status, 500) },
  refused: { title: 'Answered by the gateway', matches: ({ refusal }) => refusal !== null },
  broken: { title: 'Without a whole answer', matches: ({ isComplete }) => !isComplete },
};

export function useFilter(): [Filter, (some: Partial<Filter>) => void] {
  const { path, query, route } = useLocation();
  const filter = { text: query.text ?? '', status: query.status ?? 'all' };
  function change(some: Partial<Filter>) {
    const { text, status } = { ...filter, ...some };
    const search = new URLSearchParams({ ...(text && { text }), ...(status !== 'all' && { status }) }).toString();
    route(search ? `${path}?${search}` : path, true);
  }
  return [filter, change];
}

/** Whether a request matches the filter. The text is searched in everything that its row shows. */
export function matchesFilter({ text, status }: Filter, row: Row): boolean {
  if (!(statusFilters[status]?.matches(row) ?? true)) return false;
  const { method, path, clientIp, refusal } = row;
  const searchable = [`${method} ${path}`, clientIp, row.status ?? '', refusal?.module ?? '', refusal?.reason ?? ''];
  return searchable.join('\n').toLowerCase().includes(text.trim().toLowerCase());
}

function isInClass(status: number | null, hundred: number): boolean {
  return status !== null && status >= hundred && status < hundred + 100;
}

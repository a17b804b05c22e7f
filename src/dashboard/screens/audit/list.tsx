import { useEffect, useRef } from 'preact/hooks';
import { useDebounced } from '../../data/hooks/use-debounced.ts';
import { useList } from '../../data/hooks/use-list.ts';
import { useSubscription } from '../../data/hooks/use-subscription.ts';
import { pathTo } from '../../data/routing/paths.ts';
import { viewer } from '../../data/session/session.ts';
import { AuditEntries, AuditEntryAdded, type AuditEntryRowFragment } from '../../generated/operations.ts';
import { Actor, actionWords, kindWords, ObjectLink } from '../../ui/history/entry-words.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { auditVariables, useAuditFilter } from './filter.ts';
import { AuditFilterBar } from './filter-bar.tsx';

/** While somebody types, nothing is asked for; and however many entries come, the list is loaded once a second. */
const TYPING_MS = 300;
const RELOAD_MS = 1000;

const columns: Column<AuditEntryRowFragment>[] = [
  {
    key: 'what',
    title: 'What',
    width: '1.5fr',
    cell: ({ action, kind }) => `${kindWords(kind)}: ${actionWords(action)}`,
  },
  { key: 'object', title: 'Object', width: '2fr', cell: (entry) => <ObjectLink entry={entry} /> },
  { key: 'actor', title: 'By', width: '1.5fr', cell: (entry) => <Actor entry={entry} /> },
  { key: 'when', title: 'When', width: '7rem', cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
  { key: 'ip', title: 'From', width: '9rem', priority: 3, cell: ({ ip }) => ip ?? '' },
];

export function AuditList() {
  const [filter, setFilter] = useAuditFilter();
  const variables = useDebounced(JSON.stringify(auditVariables(filter)), TYPING_MS);
  const list = useList(AuditEntries, JSON.parse(variables), (result) => result.auditEntries);
  const timer = useRef<number | undefined>(undefined);
  const refetch = useRef(list.refetch);
  refetch.current = list.refetch;
  useSubscription(AuditEntryAdded, {}, () => {
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      refetch.current();
    }, RELOAD_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const lead = viewer.value?.isAdmin
    ? 'Who did what in your account, the newest first.'
    : 'What you did, the newest first. What was done to an object is on its page.';
  return (
    <Page title="Audit" lead={lead}>
      <AuditFilterBar filter={filter} onChange={setFilter} />
      <Table
        label="Audit trail"
        columns={columns}
        list={list}
        cardLines={3}
        href={({ id }) => pathTo('audit', id)}
        empty={<EmptyState title="Nothing is recorded">Nothing was done that fits, as far back as is kept.</EmptyState>}
      />
    </Page>
  );
}

import { objectPath } from '../../data/routing/paths.ts';
import { type BulkJobRowFragment, BulkJobs } from '../../generated/operations.ts';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { jobTitle, stateTitle } from '../../ui/list/bulk/job-words.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { useListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { Count } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

const columns: Column<BulkJobRowFragment>[] = [
  { key: 'what', title: 'What', width: '2fr', cell: jobTitle },
  { key: 'state', title: 'State', width: '8rem', cell: ({ state }) => stateTitle(state) },
  { key: 'done', title: 'Done', width: '6rem', align: 'end', cell: ({ done }) => <Count value={done} /> },
  {
    key: 'failed',
    title: 'Failed',
    width: '6rem',
    align: 'end',
    priority: 3,
    cell: ({ failed }) => <Count value={failed} />,
  },
  { key: 'total', title: 'Of', width: '6rem', align: 'end', priority: 3, cell: ({ total }) => <Count value={total} /> },
  { key: 'by', title: 'By', width: '1.5fr', priority: 3, cell: ({ actorSubject }) => actorSubject },
  {
    key: 'created',
    isLabelled: true,
    title: 'Begun',
    width: '8rem',
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];

export function JobList() {
  const view = useListView('bulkJobs', BulkJobs, (result) => result.bulkJobs, { kinds: ['bulkJob'] });
  return (
    <Page title="Bulk changes" lead="Changes of many objects at once, the newest first.">
      <ListTable
        label="Bulk changes"
        columns={columns}
        view={view}
        nouns={['change', 'changes']}
        href={({ id }) => objectPath('bulkJob', id)}
        empty={
          <EmptyState title="No bulk changes yet">
            Select rows of a list to delete them, to change who holds them, or to change their labels.
          </EmptyState>
        }
      />
    </Page>
  );
}

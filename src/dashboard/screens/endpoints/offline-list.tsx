import { useState } from 'preact/hooks';
import { now } from '../../data/clock.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { type OfflineEndpointRowFragment, OfflineEndpoints } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { useListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { ForgetDialog } from './forget-dialog.tsx';
import { EndpointTabs } from './navigation.tsx';

export function OfflineEndpointList() {
  const view = useListView('offlineEndpoints', OfflineEndpoints, (result) => result.offlineEndpoints, {
    kinds: ['offlineEndpoint'],
  });
  return (
    <Page title="Offline endpoints" lead="Addresses that an agent served until it went, and why it went.">
      <EndpointTabs />
      <ListTable
        label="Offline endpoints"
        columns={offlineColumns}
        view={view}
        nouns={['endpoint', 'endpoints']}
        href={(row) => objectPath('offlineEndpoint', row.id)}
        empty={
          <EmptyState title="Nothing went offline">
            When an agent goes, what it served is kept here for 30 days with the reason, or until it is served again.
          </EmptyState>
        }
      />
    </Page>
  );
}

export const offlineColumns: Column<OfflineEndpointRowFragment>[] = [
  { key: 'url', member: 'public_url', title: 'Address', width: '4fr', cell: (row) => row.publicUrl },
  { key: 'reason', title: 'Why', width: '3fr', cell: (row) => <span title={row.reason}>{row.reason}</span> },
  {
    key: 'since',
    member: 'offline_at',
    title: 'Since',
    width: '7rem',
    cell: (row) => <RelativeTime at={row.offlineAt} />,
  },
  { key: 'kept', title: 'Name kept', width: '7rem', priority: 3, cell: (row) => <NameHold until={row.heldUntil} /> },
  { key: 'forget', title: 'Forget', width: '5rem', priority: 2, align: 'end', cell: (row) => <Forget row={row} /> },
];

function Forget({ row }: { row: OfflineEndpointRowFragment }) {
  const [isAsking, setAsking] = useState(false);
  const close = () => setAsking(false);
  return (
    <>
      <Button variant="plain" label={`Forget ${row.publicUrl}`} onClick={() => setAsking(true)}>
        Forget
      </Button>
      {isAsking && <ForgetDialog endpoint={row} onDone={close} onClose={close} />}
    </>
  );
}

/** Until when a name is reserved for the credential that served it. */
export function NameHold({ until }: { until: string | null }) {
  const isHeld = until !== null && Date.parse(until) > now.value;
  return isHeld ? <RelativeTime at={until} /> : <span class="muted">no longer</span>;
}

import { toApiFailure } from '../../data/client/api-failure.ts';
import { execute } from '../../data/client/client.ts';
import { now } from '../../data/clock.ts';
import { useList } from '../../data/hooks/use-list.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import {
  EndpointCount,
  ForgetOfflineEndpoint,
  type OfflineEndpointRowFragment,
  OfflineEndpoints,
} from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { EndpointTabs } from './navigation.tsx';

export function OfflineEndpointList() {
  const list = useList(OfflineEndpoints, {}, (result) => result.offlineEndpoints, { kinds: ['offlineEndpoint'] });
  const { data } = useQuery(EndpointCount, {}, { kinds: ['endpoint'] });
  return (
    <Page title="Offline endpoints" lead="Addresses that an agent served until it went, and why it went.">
      <EndpointTabs live={data?.endpoints?.totalCount} offline={list.totalCount} />
      <Table
        label="Offline endpoints"
        columns={offlineColumns}
        list={list}
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
  { key: 'url', title: 'Address', width: '4fr', cell: (row) => row.publicUrl },
  { key: 'reason', title: 'Why', width: '3fr', cell: (row) => <span title={row.reason}>{row.reason}</span> },
  { key: 'since', title: 'Since', width: '7rem', cell: (row) => <RelativeTime at={row.offlineAt} /> },
  { key: 'kept', title: 'Name kept', width: '7rem', priority: 3, cell: (row) => <NameHold until={row.heldUntil} /> },
  { key: 'forget', title: 'Forget', width: '5rem', priority: 2, align: 'end', cell: (row) => <Forget row={row} /> },
];

function Forget({ row }: { row: OfflineEndpointRowFragment }) {
  async function forget() {
    try {
      await execute(ForgetOfflineEndpoint, { id: row.id });
      toast(`Forgot ${row.publicUrl}.`);
    } catch (error) {
      toast(toApiFailure(error).message);
    }
  }
  return (
    <Button variant="plain" label={`Forget ${row.publicUrl}`} onClick={() => void forget()}>
      Forget
    </Button>
  );
}

/** Until when a name is reserved for the credential that served it. */
export function NameHold({ until }: { until: string | null }) {
  const isHeld = until !== null && Date.parse(until) > now.value;
  return isHeld ? <RelativeTime at={until} /> : <span class="muted">no longer</span>;
}

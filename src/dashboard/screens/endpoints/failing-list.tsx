// The endpoints that are online and fail.

import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { type FailingEndpointRowFragment, FailingEndpoints } from '../../generated/operations.ts';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { EndpointTabs } from './navigation.tsx';

/** The change feed tells who begins to fail; the share of requests changes without an event. */
const POLL_MS = 10_000;

export function FailingEndpointList() {
  const { data, error, refetch } = useQuery(FailingEndpoints, {}, { kinds: ['endpoint'], pollMs: POLL_MS });
  const rows = data?.allEndpoints && failingOf(data.allEndpoints);
  return (
    <Page title="Failing endpoints" lead="Addresses that are online, but answer visitors with errors or not at all.">
      <EndpointTabs />
      <ErrorNote error={error} retry={() => void refetch()} />
      {!data && !error && <Skeleton />}
      {rows && (
        <Table
          label="Failing endpoints"
          columns={columns}
          rows={rows}
          href={(row) => objectPath('endpoint', row.id)}
          empty={
            <EmptyState title="No endpoint fails">
              An endpoint fails when too many of its last requests are answered with a status 5xx, or not at all.
            </EmptyState>
          }
        />
      )}
    </Page>
  );
}

type FailingRow = Extract<FailingEndpointRowFragment, { health: unknown }>;

/** Those of a list of failing endpoints: none that is offline fails, which its type does not say. */
export function failingOf({ nodes }: { nodes: readonly FailingEndpointRowFragment[] }): FailingRow[] {
  return nodes.filter((node): node is FailingRow => 'health' in node);
}

const columns: Column<FailingRow>[] = [
  { key: 'url', title: 'Address', width: '4fr', cell: (row) => row.publicUrl },
  { key: 'since', title: 'For', width: '7rem', cell: (row) => <RelativeTime at={row.health.since} as="since" /> },
  { key: 'share', title: 'Why', width: '3fr', cell: whyCell },
];

function whyCell({ health: { errorShare, requests } }: FailingRow) {
  return errorShare === null ? <span class="muted">nobody asked it since</span> : failureText(errorShare, requests);
}

/** `40% of the last 1,200 requests failed`. @param share from 0 to 1. */
export function failureText(share: number, requests: number): string {
  const percent = share > 0 && share < 0.01 ? 'less than 1' : Math.round(share * 100);
  return `${percent}% of the last ${requests.toLocaleString('en')} requests failed`;
}

import type { ReadonlySignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useList } from '../../data/hooks/use-list.ts';
import { pathTo } from '../../data/routing/paths.ts';
import { type TrafficEndpointRowFragment, TrafficEndpoints } from '../../generated/operations.ts';
import { Tag } from '../../ui/feedback/tag.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { StartCommand } from '../credentials/start-command.tsx';
import { ByteRateCell, RequestRateCell } from '../endpoints/traffic-cells.tsx';
import { type Traffic, useTraffic } from '../endpoints/use-traffic.ts';

/** Selects the endpoint whose traffic is shown. */
export function EndpointPicker() {
  const list = useList(TrafficEndpoints, {}, (result) => result.endpoints, { kinds: ['endpoint'] });
  const traffic = useTraffic(list.visibleIds);
  const columns = useMemo(() => columnsOf(traffic), [traffic]);
  return (
    <Page title="Traffic" lead="Choose an endpoint to look at its requests one by one, live.">
      <Table
        label="Endpoints"
        columns={columns}
        list={list}
        href={(row) => pathTo('traffic', row.id)}
        empty={
          <EmptyState title="Nothing is online" action={<StartCommand acl={[]} />}>
            Requests can be looked at while an endpoint is live. This line starts an agent that serves one; its
            authtoken is that of a <a href={pathTo('credentials')}>credential</a>.
          </EmptyState>
        }
      />
    </Page>
  );
}

function columnsOf(traffic: ReadonlySignal<Traffic>): Column<TrafficEndpointRowFragment>[] {
  return [
    { key: 'url', title: 'Address', width: '3fr', cell: (row) => row.publicUrl },
    { key: 'proto', title: 'Protocol', width: '5rem', cell: (row) => <Tag>{row.proto.toLowerCase()}</Tag> },
    {
      key: 'requests',
      title: 'Requests',
      width: '7rem',
      align: 'end',
      cell: (row) => <RequestRateCell id={row.id} traffic={traffic} />,
    },
    {
      key: 'bytes',
      title: 'Bytes',
      width: '7rem',
      align: 'end',
      cell: (row) => <ByteRateCell id={row.id} traffic={traffic} />,
    },
  ];
}

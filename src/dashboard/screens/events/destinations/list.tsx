import { objectPath } from '../../../data/routing/paths.ts';
import { type EventDestinationRowFragment, EventDestinations } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { Count } from '../../../ui/text/numbers.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { newDestination, tabs } from '../navigation.ts';
import { DeliveryState } from './delivery-state.tsx';
import { targetText } from './target-values.ts';

/** The change feed has no events for the delivery state, so it is polled. */
const DELIVERY_MS = 5000;

export function DestinationList() {
  const view = useListView('eventDestinations', EventDestinations, (result) => result.eventDestinations, {
    kinds: ['eventDestination'],
    pollMs: DELIVERY_MS,
  });
  const add = (variant?: 'primary') => (
    <LinkButton variant={variant} href={newDestination}>
      New destination
    </LinkButton>
  );
  return (
    <Page title="Event destinations" actions={add('primary')}>
      <Tabs label="Events" tabs={tabs} />
      <ListTable
        label="Event destinations"
        columns={columns}
        view={view}
        nouns={['destination', 'destinations']}
        href={(row) => objectPath('eventDestination', row.id)}
        empty={
          <EmptyState title="No event destinations yet" action={add()}>
            The gateway tells what happens in it: who changed what, which agents came and went, and each request if you
            like. A destination is where it tells it: a webhook, a file, or a service of a cloud. A subscription then
            says which events go there.
          </EmptyState>
        }
      />
    </Page>
  );
}

const columns: Column<EventDestinationRowFragment>[] = [
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    cell: (row) => row.description || row.id,
  },
  { key: 'target', title: 'Target', width: '3fr', cell: (row) => targetText(row.target), priority: 2 },
  { key: 'state', title: 'Delivery', width: '9.5rem', cell: (row) => <DeliveryState delivery={row.delivery} /> },
  {
    key: 'delivered',
    title: 'Last delivered',
    width: '7rem',
    cell: (row) => <RelativeTime at={row.delivery.lastDeliveredAt} />,
    priority: 2,
  },
  {
    key: 'waiting',
    title: 'Waiting',
    width: '4.5rem',
    align: 'end',
    cell: (row) => <Count value={row.delivery.waitingEvents} />,
    priority: 2,
  },
  {
    key: 'dead',
    title: 'Dead letters',
    width: '6rem',
    align: 'end',
    cell: (row) => <Count value={row.delivery.deadLetters} />,
    priority: 3,
  },
  { key: 'error', title: 'Last error', width: '2fr', cell: lastError, priority: 3 },
];

function lastError({ delivery: { lastError: error } }: EventDestinationRowFragment) {
  if (!error) return <span class="muted">none</span>;
  return (
    <span title={`${error.code}: ${error.message}`}>
      {error.code}, <RelativeTime at={error.at} />
    </span>
  );
}

import { objectPath } from '../../../data/routing/paths.ts';
import { type EventSubscriptionRowFragment, EventSubscriptions } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { newSubscription, tabs } from '../navigation.ts';

export function SubscriptionList() {
  const view = useListView('eventSubscriptions', EventSubscriptions, (result) => result.eventSubscriptions, {
    kinds: ['eventSubscription'],
  });
  const add = (variant?: 'primary') => (
    <LinkButton variant={variant} href={newSubscription}>
      New subscription
    </LinkButton>
  );
  return (
    <Page title="Event subscriptions" actions={add('primary')}>
      <Tabs label="Events" tabs={tabs} />
      <ListTable
        label="Event subscriptions"
        columns={columns}
        view={view}
        nouns={['subscription', 'subscriptions']}
        href={(row) => objectPath('eventSubscription', row.id)}
        empty={
          <EmptyState title="No event subscriptions yet" action={add()}>
            A subscription says which events are delivered, to which destinations.
          </EmptyState>
        }
      />
    </Page>
  );
}

const columns: Column<EventSubscriptionRowFragment>[] = [
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    cell: (row) => row.description || row.id,
  },
  { key: 'events', title: 'Events', width: '3fr', cell: eventsOf },
  { key: 'destinations', title: 'Destinations', width: '7rem', cell: destinationsOf, priority: 2 },
  {
    key: 'created',
    isLabelled: true,
    member: 'created_at',
    title: 'Created',
    width: '7rem',
    cell: (row) => <RelativeTime at={row.createdAt} />,
    priority: 3,
  },
];

function eventsOf({ sources: [first, ...others] }: EventSubscriptionRowFragment) {
  if (!first) return <span class="muted">none</span>;
  return others.length === 0 ? first.type : `${first.type} and ${others.length} more`;
}

function destinationsOf({ destinations: { length } }: EventSubscriptionRowFragment) {
  return length === 0 ? <span class="muted">none</span> : length;
}

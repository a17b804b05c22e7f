// The visitors who have signed in.

import { objectPath } from '../../data/routing/paths.ts';
import { type VisitorRowFragment, Visitors } from '../../generated/operations.ts';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { useListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { tabs, visitorTitle } from './navigation.ts';
import { USE_POLL_MS } from './session-columns.tsx';
import { SharedCallbackNotes } from './shared-callbacks.tsx';

const columns: Column<VisitorRowFragment>[] = [
  { key: 'visitor', title: 'Visitor', width: '2fr', cell: visitorTitle },
  { key: 'name', member: 'name', title: 'Name', width: '1.5fr', priority: 3, cell: ({ name }) => name },
  {
    key: 'provider',
    member: 'identity_provider.url',
    title: 'Signs in at',
    width: '1.5fr',
    cell: ({ identityProvider }) => <span title={identityProvider.url}>{identityProvider.name}</span>,
  },
  {
    key: 'active',
    isLabelled: true,
    member: 'last_active',
    title: 'Last active',
    width: '8rem',
    cell: ({ lastActive }) => <RelativeTime at={lastActive} />,
  },
  {
    key: 'login',
    isLabelled: true,
    member: 'last_login',
    title: 'Last sign-in',
    width: '8rem',
    priority: 2,
    cell: ({ lastLogin }) => <RelativeTime at={lastLogin} />,
  },
];

export function VisitorList() {
  const view = useListView('appUsers', Visitors, (result) => result.appUsers, {
    kinds: ['appUser'],
    pollMs: USE_POLL_MS,
  });
  return (
    <Page title="Visitors" lead="Who has signed in at your endpoints, at an identity provider.">
      <Tabs label="Visitors" tabs={tabs} />
      <SharedCallbackNotes />
      <ListTable
        label="Visitors"
        columns={columns}
        view={view}
        nouns={['visitor', 'visitors']}
        consequence="All their sessions end at once. Whoever signs in again is another visitor from then on."
        href={({ id }) => objectPath('appUser', id)}
        empty={
          <EmptyState title="No visitor has signed in yet">
            A traffic policy with the action <code>openid-connect</code> or <code>oauth</code> sends visitors to an
            identity provider; they turn up here when they come back.
          </EmptyState>
        }
      />
    </Page>
  );
}

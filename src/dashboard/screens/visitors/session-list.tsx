// The sessions that visitors have now.

import { useMemo, useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import {
  type VisitorNameFragment,
  VisitorNames,
  type VisitorSessionRowFragment,
  VisitorSessions,
} from '../../generated/operations.ts';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { useListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { tabs, visitorTitle } from './navigation.ts';
import { sessionColumns, USE_POLL_MS } from './session-columns.tsx';
import { SignOutDialog } from './sign-out-dialog.tsx';

type Row = VisitorSessionRowFragment;

/** The limit of `nodes` in the API. */
const ASKED_MAX = 100;

export function VisitorSessionList() {
  const view = useListView('appSessions', VisitorSessions, (result) => result.appSessions, {
    kinds: ['appSession'],
    pollMs: USE_POLL_MS,
  });
  const [ending, setEnding] = useState<Row>();
  const visibleIds = new Set(view.list.visibleIds.value);
  const names = useVisitorNames(view.list.rows.filter(({ id }) => visibleIds.has(id)));
  const columns = useMemo<Column<Row>[]>(() => {
    const visitor: Column<Row> = {
      key: 'visitor',
      title: 'Visitor',
      width: '2fr',
      cell: ({ applicationUser: { id } }) => names.get(id) ?? id,
    };
    return [visitor, ...sessionColumns(setEnding)];
  }, [names]);
  return (
    <Page title="Sessions of visitors" lead="Who is signed in now: a browser at an endpoint.">
      <Tabs label="Visitors" tabs={tabs} />
      <ListTable
        label="Sessions"
        columns={columns}
        view={view}
        nouns={['session', 'sessions']}
        consequence="The visitors are signed out there at once, and what is open in the sessions is cut off."
        href={({ id }) => objectPath('appSession', id)}
        cardLines={3}
        empty={
          <EmptyState title="No visitor is signed in">
            A session begins when a visitor comes back from an identity provider, and ends by its time or here.
          </EmptyState>
        }
      />
      {ending && (
        <SignOutDialog
          session={ending}
          onDone={() => {
            setEnding(undefined);
            view.list.refetch();
          }}
          onClose={() => setEnding(undefined)}
        />
      )}
    </Page>
  );
}

/** The names of the visitors of these sessions, by their ids. */
function useVisitorNames(rows: readonly Row[]): ReadonlyMap<string, string> {
  const ids = [...new Set(rows.map(({ applicationUser }) => applicationUser.id))].sort().slice(0, ASKED_MAX);
  const { data } = useQuery(
    VisitorNames,
    { ids },
    { kinds: ['appUser'], keepPreviousData: true, skip: ids.length === 0 },
  );
  return useMemo(() => {
    const visitors = (data?.nodes ?? []).filter((node): node is VisitorNameFragment => node !== null && 'id' in node);
    return new Map(visitors.map((visitor) => [visitor.id, visitorTitle(visitor)]));
  }, [data]);
}

// The alerts: those that fire first, and what there was.

import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { viewer } from '../../../data/session/session.ts';
import { type AlertRowFragment, Alerts, OpenAlerts } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Note } from '../../../ui/feedback/note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { conditionForms } from '../conditions.ts';
import { newRule, tabs } from '../navigation.ts';
import { AlertState } from './alert-state.tsx';

const kinds = ['alert'];
const toAlert = ({ id }: { id: string }) => objectPath('alert', id);

export function AlertList() {
  const open = useQuery(OpenAlerts, {}, { kinds });
  const view = useListView('alerts', Alerts, (result) => result.alerts, { kinds });
  const alerts = open.data?.openAlerts;
  return (
    <Page title="Alerts">
      <Tabs label="Alerts" tabs={tabs} />
      <Section title="Now">
        <ErrorNote error={open.error} retry={() => void open.refetch()} />
        {!alerts && !open.error && <Skeleton />}
        {alerts?.length === 0 && <Note variant="good">No alert is open.</Note>}
        {alerts && alerts.length > 0 && (
          <Table label="Open alerts" columns={columns} rows={alerts} href={toAlert} cardLines={3} />
        )}
      </Section>
      <Section title="All" lead="The newest first. Resolved ones are kept for 30 days.">
        <ListTable
          label="All alerts"
          columns={columns}
          view={view}
          nouns={['alert', 'alerts']}
          href={toAlert}
          cardLines={3}
          empty={<NoAlerts />}
        />
      </Section>
    </Page>
  );
}

function NoAlerts() {
  return (
    <EmptyState
      title="No alerts yet"
      action={viewer.value?.isAdmin && <LinkButton href={newRule}>New rule</LinkButton>}
    >
      A rule says what is wrong and for how long it has to be: a device that is offline, half of a site that is gone, a
      certificate that expires. An alert then shows here, and channels tell of it.
    </EmptyState>
  );
}

const columns: Column<AlertRowFragment>[] = [
  { key: 'name', title: 'Rule', width: '2fr', cell: ({ name }) => name },
  { key: 'state', title: 'State', width: '10rem', cell: (row) => <AlertState {...row} /> },
  { key: 'subjects', title: 'About', width: '1.5fr', cell: aboutText },
  { key: 'since', title: 'For', width: '7rem', cell: lasted },
  {
    key: 'condition',
    title: 'Condition',
    width: '2fr',
    priority: 3,
    cell: ({ condition }) => conditionForms[condition].title,
  },
];

function aboutText({ condition, subjectCount }: AlertRowFragment) {
  return `${subjectCount} ${conditionForms[condition].nouns[subjectCount === 1 ? 0 : 1]}`;
}

/** For how long it has been so; of what is over, when it ended. */
function lasted({ since, resolvedAt }: AlertRowFragment) {
  return resolvedAt ? <RelativeTime at={resolvedAt} /> : <RelativeTime at={since} as="since" />;
}

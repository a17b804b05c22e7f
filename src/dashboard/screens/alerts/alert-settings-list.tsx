import type { ComponentChildren } from 'preact';
import { objectPath } from '../../data/routing/paths.ts';
import { viewer } from '../../data/session/session.ts';
import { LinkButton } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import type { ListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { tabs } from './navigation.ts';

interface AlertSettingsListProps<Row> {
  title: string;
  view: ListView<Row>;
  columns: readonly Column<Row>[];
  /** The kind of the objects: `alertRule`. */
  kind: string;
  nouns: readonly [one: string, many: string];
  /** The page that makes a new one, which admins may. */
  newPath: string;
  consequence?: string;
  emptyTitle: string;
  /** What these objects are for. */
  children: ComponentChildren;
}

/** A page of what decides about alerts: rules, channels or silences. */
export function AlertSettingsList<Row extends { id: string }>(props: AlertSettingsListProps<Row>) {
  const { title, view, columns, kind, nouns, newPath, consequence, emptyTitle, children } = props;
  const add = viewer.value?.isAdmin && (
    <LinkButton variant="primary" href={newPath}>
      New {nouns[0]}
    </LinkButton>
  );
  return (
    <Page title={title} actions={add}>
      <Tabs label="Alerts" tabs={tabs} />
      <ListTable
        label={title}
        columns={columns}
        view={view}
        nouns={nouns}
        consequence={consequence}
        href={({ id }) => objectPath(kind, id)}
        cardLines={3}
        empty={
          <EmptyState title={emptyTitle} action={add}>
            {children}
          </EmptyState>
        }
      />
    </Page>
  );
}

// The routes of an HTTPS edge in the order in which they are tried.

import { edgeRoutePath } from '../../../data/routing/paths.ts';
import type { RouteRowFragment } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Section } from '../../../ui/layout/page.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { modulesForHost } from '../modules/forms.tsx';
import { moduleSettings } from '../modules/module-form.ts';
import { newRoutePath } from '../navigation.ts';
import { useReferenceTitles } from '../references/references.ts';

interface Row extends RouteRowFragment {
  goesTo: string | null;
}

const columns: Column<Row>[] = [
  { key: 'match', title: 'Path', width: '2fr', cell: (row) => <Path row={row} /> },
  {
    key: 'backend',
    title: 'Goes to',
    width: '2fr',
    cell: ({ goesTo }) => goesTo ?? <Tag variant="warn">nowhere yet</Tag>,
  },
  { key: 'modules', title: 'Modules', width: '3fr', cell: (row) => <Modules row={row} />, priority: 2 },
  { key: 'description', title: 'Description', width: '2fr', cell: ({ description }) => description, priority: 3 },
];

interface RouteListProps {
  edge: { id: string; routes: readonly RouteRowFragment[] };
}

export function RouteList({ edge: { id, routes } }: RouteListProps) {
  const nameOf = useReferenceTitles(routes.flatMap(({ backend }) => (backend ? [backend.backend.id] : [])));
  const rows = [...routes]
    .sort(byMatchOrder)
    .map((route) => ({ ...route, goesTo: route.backend?.enabled ? nameOf(route.backend.backend.id) : null }));
  const create = newRoutePath(id);
  return (
    <Section
      title="Routes"
      lead={
        rows.length > 1 &&
        'In the order in which they are tried: exact paths first, then longer beginnings before shorter ones.'
      }
      actions={<LinkButton href={create}>New route</LinkButton>}
    >
      <Table
        label="Routes"
        columns={columns}
        rows={rows}
        href={(row) => edgeRoutePath(id, row.id)}
        empty={
          <EmptyState title="No routes yet" action={<LinkButton href={create}>New route</LinkButton>}>
            Without a route every request is answered with an error. The path / and everything below it is a good first
            one.
          </EmptyState>
        }
      />
    </Section>
  );
}

function Path({ row: { match, matchType } }: { row: Row }) {
  return (
    <>
      <code>{match}</code> {matchType === 'PATH_PREFIX' && <span class="muted">and below</span>}
    </>
  );
}

function Modules({ row }: { row: Row }) {
  const set = modulesForHost('httpsEdgeRoute').flatMap((module) => {
    const settings = moduleSettings(module, row);
    const isShown = settings && module.field !== 'backend' && !module.isAlias;
    return isShown ? [{ title: module.title, isOn: settings.enabled }] : [];
  });
  const text = set.map(({ title, isOn }) => (isOn ? title : `${title} (off)`)).join(', ');
  return <span title={text}>{text}</span>;
}

function byMatchOrder(one: RouteRowFragment, other: RouteRowFragment): number {
  const rank = ({ matchType }: RouteRowFragment) => (matchType === 'EXACT_PATH' ? 0 : 1);
  return rank(one) - rank(other) || other.match.length - one.match.length || one.match.localeCompare(other.match);
}

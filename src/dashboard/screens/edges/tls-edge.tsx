// One TLS edge: its modules and its settings.

import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { DeleteTlsEdge, TlsEdge } from '../../generated/operations.ts';
import { NotYet, OnePage } from './detail-page.tsx';
import { backendsOf } from './edge-lists.tsx';
import { EdgeSettings } from './edge-settings.tsx';
import { EdgeFacts } from './edge-summary.tsx';
import { modulesOf } from './modules/forms.tsx';
import type { Host } from './modules/hosts.ts';
import { settingsOf } from './modules/module-form.ts';
import { ModuleList } from './modules/module-list.tsx';
import { ModulePage, NoSuchModule } from './modules/module-page.tsx';
import { edgeTitle, lists, visitOf } from './navigation.ts';

const crumbs = [{ title: 'TLS edges', href: lists.tls }];

export function OneTlsEdge() {
  const id = useParam('id');
  const { edge, query } = useTlsEdge(id);
  if (!edge) return <NotYet title="TLS edge" crumbs={crumbs} {...query} />;
  return (
    <OnePage
      title={edgeTitle(edge)}
      crumbs={crumbs}
      noun="edge"
      id={id}
      remove={DeleteTlsEdge}
      consequence="Its modules are deleted with it, and its names are answered no more. Agents stay connected."
    >
      <EdgeFacts edge={edge} backends={backendsOf(edge)} />
      <ModuleList host={hostOf(edge)} settings={edge} />
      <EdgeSettings key={id} kind="tlsEdge" edge={edge} />
    </OnePage>
  );
}

export function TlsEdgeModule() {
  const id = useParam('id');
  const field = useParam('module');
  const { edge, query } = useTlsEdge(id);
  const module = modulesOf('tlsEdge').find((one) => one.field === field);
  if (!module) return <NoSuchModule crumbs={crumbs} />;
  if (!edge) return <NotYet title={module.title} crumbs={crumbs} {...query} />;
  return (
    <ModulePage
      key={`${id} ${field}`}
      host={hostOf(edge)}
      module={module}
      settings={settingsOf(module, edge)}
      crumbs={[...crumbs, { title: edgeTitle(edge), href: objectPath('tlsEdge', id) }]}
    />
  );
}

function useTlsEdge(id: string) {
  const { data, error, refetch } = useQuery(TlsEdge, { id }, { kinds: ['tlsEdge'] });
  return { edge: data?.tlsEdge, query: { error, refetch } };
}

function hostOf(edge: { id: string; hostports: readonly string[] }): Host {
  return { kind: 'tlsEdge', id: edge.id, visit: visitOf(edge) };
}

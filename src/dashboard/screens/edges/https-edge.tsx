// One HTTPS edge: its routes, its modules, its settings.

import { useQuery } from '../../data/hooks/use-query.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { DeleteHttpsEdge, HttpsEdge } from '../../generated/operations.ts';
import { NotYet, OnePage } from './detail-page.tsx';
import { backendsOf } from './edge-lists.tsx';
import { EdgeSettings } from './edge-settings.tsx';
import { EdgeFacts } from './edge-summary.tsx';
import { modulesOf } from './modules/forms.tsx';
import type { Host } from './modules/hosts.ts';
import { settingsOf } from './modules/module-form.ts';
import { ModuleList } from './modules/module-list.tsx';
import { ModulePage, NoSuchModule } from './modules/module-page.tsx';
import { edgesCrumb, edgeTitle, httpsCrumbs, visitOf } from './navigation.ts';
import { RouteList } from './routes/list.tsx';

const KINDS = ['httpsEdge', 'httpsEdgeRoute'];
const crumbs = [edgesCrumb];

export function OneHttpsEdge() {
  const id = useParam('id');
  const { edge, query } = useHttpsEdge(id);
  if (!edge) return <NotYet title="HTTPS edge" crumbs={crumbs} {...query} />;
  return (
    <OnePage
      title={edgeTitle(edge)}
      crumbs={crumbs}
      noun="edge"
      id={id}
      remove={DeleteHttpsEdge}
      consequence="Its routes and modules are deleted with it, and its names are answered no more. Agents stay connected."
    >
      <EdgeFacts edge={edge} backends={backendsOf(edge)} />
      <RouteList edge={edge} />
      <ModuleList host={hostOf(edge)} settings={edge} />
      <EdgeSettings key={id} kind="httpsEdge" edge={edge} />
    </OnePage>
  );
}

export function HttpsEdgeModule() {
  const id = useParam('id');
  const field = useParam('module');
  const { edge, query } = useHttpsEdge(id);
  const module = modulesOf('httpsEdge').find((one) => one.field === field);
  if (!module) return <NoSuchModule crumbs={crumbs} />;
  if (!edge) return <NotYet title={module.title} crumbs={crumbs} {...query} />;
  return (
    <ModulePage
      key={`${id} ${field}`}
      host={hostOf(edge)}
      module={module}
      settings={settingsOf(module, edge)}
      crumbs={httpsCrumbs(edge)}
    />
  );
}

function useHttpsEdge(id: string) {
  const { data, error, refetch } = useQuery(HttpsEdge, { id }, { kinds: KINDS });
  return { edge: data?.httpsEdge, query: { error, refetch } };
}

function hostOf(edge: { id: string; hostports: readonly string[] }): Host {
  return { kind: 'httpsEdge', id: edge.id, visit: visitOf(edge) };
}

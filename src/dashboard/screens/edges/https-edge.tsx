// The page of an HTTPS edge with its routes, modules and settings, and the pages of its modules.

import { useQuery } from '../../data/hooks/use-query.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { DeleteHttpsEdge, HttpsEdge, HttpsEdgeTrafficHistory } from '../../generated/operations.ts';
import { HistorySection } from '../traffic-history/history-section.tsx';
import { DetailPage, NotYet } from './detail-page.tsx';
import { enabledBackendIds } from './edge-lists.tsx';
import { EdgeSettings } from './edge-settings.tsx';
import { EdgeSummary } from './edge-summary.tsx';
import { modulesForHost } from './modules/forms.tsx';
import type { ModuleHost } from './modules/hosts.ts';
import { moduleSettings } from './modules/module-form.ts';
import { ModuleList } from './modules/module-list.tsx';
import { ModulePage, NoSuchModule } from './modules/module-page.tsx';
import { edgesCrumb, edgeTitle, exampleUrl, httpsCrumbs } from './navigation.ts';
import { RouteList } from './routes/list.tsx';

const KINDS = ['httpsEdge', 'httpsEdgeRoute'];
const crumbs = [edgesCrumb];

export function HttpsEdgePage() {
  const id = useParam('id');
  const { edge, query } = useHttpsEdge(id);
  if (!edge) return <NotYet title="HTTPS edge" crumbs={crumbs} {...query} />;
  return (
    <DetailPage
      title={edgeTitle(edge)}
      crumbs={crumbs}
      noun="edge"
      id={id}
      remove={DeleteHttpsEdge}
      consequence="Its routes and modules are deleted with it, and its names are answered no more. Agents stay connected."
    >
      <EdgeSummary kind="httpsEdge" edge={edge} backends={enabledBackendIds(edge)} />
      <RouteList edge={edge} />
      <HistorySection operation={HttpsEdgeTrafficHistory} ids={{ id }} pick={(result) => result.httpsEdge} isHttp />
      <ModuleList host={hostOf(edge)} settings={edge} />
      <EdgeSettings key={id} kind="httpsEdge" edge={edge} />
    </DetailPage>
  );
}

export function HttpsEdgeModulePage() {
  const id = useParam('id');
  const field = useParam('module');
  const { edge, query } = useHttpsEdge(id);
  const module = modulesForHost('httpsEdge').find((one) => one.field === field);
  if (!module) return <NoSuchModule crumbs={crumbs} />;
  if (!edge) return <NotYet title={module.title} noun="HTTPS edge" crumbs={crumbs} {...query} />;
  return (
    <ModulePage
      key={`${id} ${field}`}
      host={hostOf(edge)}
      module={module}
      settings={moduleSettings(module, edge)}
      crumbs={httpsCrumbs(edge)}
    />
  );
}

function useHttpsEdge(id: string) {
  const { data, error, refetch } = useQuery(HttpsEdge, { id }, { kinds: KINDS });
  return { edge: data?.httpsEdge, query: { error, refetch } };
}

function hostOf(edge: { id: string; hostports: readonly string[] }): ModuleHost {
  return { kind: 'httpsEdge', id: edge.id, exampleUrl: exampleUrl(edge) };
}

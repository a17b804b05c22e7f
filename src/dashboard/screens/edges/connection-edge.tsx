// The page of a TLS edge with its modules and settings, and the pages of its modules.

import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { DeleteTlsEdge, TlsEdge, TlsEdgeTrafficHistory } from '../../generated/operations.ts';
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
import { edgeTitle, exampleUrl, listPaths } from './navigation.ts';

const crumbs = [{ title: 'TLS edges', href: listPaths.tls }];

export function TlsEdgePage() {
  const id = useParam('id');
  const { edge, query } = useTlsEdge(id);
  if (!edge) return <NotYet title="TLS edge" crumbs={crumbs} {...query} />;
  return (
    <DetailPage
      title={edgeTitle(edge)}
      crumbs={crumbs}
      noun="edge"
      id={id}
      remove={DeleteTlsEdge}
      consequence="Its modules are deleted with it, and its names are answered no more. Agents stay connected."
    >
      <EdgeSummary edge={edge} backends={enabledBackendIds(edge)} />
      <HistorySection operation={TlsEdgeTrafficHistory} ids={{ id }} pick={(result) => result.tlsEdge} isHttp={false} />
      <ModuleList host={hostOf(edge)} settings={edge} />
      <EdgeSettings key={id} kind="tlsEdge" edge={edge} />
    </DetailPage>
  );
}

export function TlsEdgeModulePage() {
  const id = useParam('id');
  const field = useParam('module');
  const { edge, query } = useTlsEdge(id);
  const module = modulesForHost('tlsEdge').find((one) => one.field === field);
  if (!module) return <NoSuchModule crumbs={crumbs} />;
  if (!edge) return <NotYet title={module.title} noun="TLS edge" crumbs={crumbs} {...query} />;
  return (
    <ModulePage
      key={`${id} ${field}`}
      host={hostOf(edge)}
      module={module}
      settings={moduleSettings(module, edge)}
      crumbs={[...crumbs, { title: edgeTitle(edge), href: objectPath('tlsEdge', id) }]}
    />
  );
}

function useTlsEdge(id: string) {
  const { data, error, refetch } = useQuery(TlsEdge, { id }, { kinds: ['tlsEdge'] });
  return { edge: data?.tlsEdge, query: { error, refetch } };
}

function hostOf(edge: { id: string; hostports: readonly string[] }): ModuleHost {
  return { kind: 'tlsEdge', id: edge.id, exampleUrl: exampleUrl(edge) };
}

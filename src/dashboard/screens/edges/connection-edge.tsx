// The pages of TLS and TCP edges, which send whole connections to a backend: with modules and settings, and one for each
// module.

import type { Operation } from '../../data/client/operation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import {
  DeleteTcpEdge,
  DeleteTlsEdge,
  TcpEdge,
  type TcpEdgeQuery,
  TcpEdgeTrafficHistory,
  TlsEdge,
  type TlsEdgeQuery,
  TlsEdgeTrafficHistory,
} from '../../generated/operations.ts';
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

type Kind = 'tlsEdge' | 'tcpEdge';
type Query = TlsEdgeQuery | TcpEdgeQuery;

const pages = {
  tlsEdge: {
    noun: 'TLS edge',
    crumbs: [{ title: 'TLS edges', href: listPaths.tls }],
    query: TlsEdge as Operation<Query, { id: string }>,
    history: TlsEdgeTrafficHistory,
    remove: DeleteTlsEdge,
    consequence: 'Its modules are deleted with it, and its names are answered no more. Agents stay connected.',
  },
  tcpEdge: {
    noun: 'TCP edge',
    crumbs: [{ title: 'TCP edges', href: listPaths.tcp }],
    query: TcpEdge as Operation<Query, { id: string }>,
    history: TcpEdgeTrafficHistory,
    remove: DeleteTcpEdge,
    consequence:
      'Its modules are deleted with it, and its addresses are answered no more; they stay reserved. Agents stay connected.',
  },
} as const;

export const TlsEdgePage = () => <ConnectionEdgePage kind="tlsEdge" />;
export const TcpEdgePage = () => <ConnectionEdgePage kind="tcpEdge" />;
export const TlsEdgeModulePage = () => <ConnectionEdgeModulePage kind="tlsEdge" />;
export const TcpEdgeModulePage = () => <ConnectionEdgeModulePage kind="tcpEdge" />;

function ConnectionEdgePage({ kind }: { kind: Kind }) {
  const id = useParam('id');
  const { noun, crumbs, history, remove, consequence } = pages[kind];
  const { edge, query } = useEdge(kind, id);
  if (!edge) return <NotYet title={noun} crumbs={crumbs} {...query} />;
  return (
    <DetailPage title={edgeTitle(edge)} crumbs={crumbs} noun="edge" id={id} remove={remove} consequence={consequence}>
      <EdgeSummary kind={kind} edge={edge} backends={enabledBackendIds(edge)} />
      <HistorySection operation={history} ids={{ id }} pick={(result) => result.edge} isHttp={false} />
      <ModuleList host={hostOf(kind, edge)} settings={edge} />
      <EdgeSettings key={id} kind={kind} edge={edge} />
    </DetailPage>
  );
}

function ConnectionEdgeModulePage({ kind }: { kind: Kind }) {
  const id = useParam('id');
  const field = useParam('module');
  const { noun, crumbs } = pages[kind];
  const { edge, query } = useEdge(kind, id);
  const module = modulesForHost(kind).find((one) => one.field === field);
  if (!module) return <NoSuchModule crumbs={crumbs} />;
  if (!edge) return <NotYet title={module.title} noun={noun} crumbs={crumbs} {...query} />;
  return (
    <ModulePage
      key={`${id} ${field}`}
      host={hostOf(kind, edge)}
      module={module}
      settings={moduleSettings(module, edge)}
      crumbs={[...crumbs, { title: edgeTitle(edge), href: objectPath(kind, id) }]}
    />
  );
}

function useEdge(kind: Kind, id: string) {
  const { data, error, refetch } = useQuery(pages[kind].query, { id }, { kinds: [kind] });
  const edge = data?.edge;
  // A TCP edge without addresses has null.
  return { edge: edge && { ...edge, hostports: edge.hostports ?? [] }, query: { error, refetch } };
}

function hostOf(kind: Kind, edge: { id: string; hostports: readonly string[] }): ModuleHost {
  return { kind, id: edge.id, exampleUrl: exampleUrl(edge) };
}

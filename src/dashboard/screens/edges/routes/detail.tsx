// The page of a route of an HTTPS edge, and the pages of its modules.

import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import {
  DeleteHttpsEdgeRoute,
  EdgeRoute,
  type EdgeRouteQuery,
  RouteTrafficHistory,
} from '../../../generated/operations.ts';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { Section } from '../../../ui/layout/page.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { HistorySection } from '../../traffic-history/history-section.tsx';
import { DetailPage, NotYet } from '../detail-page.tsx';
import { modulesForHost } from '../modules/forms.tsx';
import type { ModuleHost } from '../modules/hosts.ts';
import { moduleSettings } from '../modules/module-form.ts';
import { ModuleList } from '../modules/module-list.tsx';
import { ModulePage, NoSuchModule } from '../modules/module-page.tsx';
import { edgesCrumb, exampleUrl, httpsCrumbs, routeCrumbs } from '../navigation.ts';
import { RouteForm } from './form.tsx';

type Edge = NonNullable<EdgeRouteQuery['httpsEdge']>;
type Route = NonNullable<EdgeRouteQuery['httpsEdgeRoute']>;

const crumbs = [edgesCrumb];

export function RoutePage() {
  const { edge, route, query } = useEdgeRoute();
  const location = useLocation();
  if (!edge || !route) return <NotYet title="Route" crumbs={crumbs} {...query} />;
  const { id, createdAt, description } = route;
  const host = hostOf(edge, route);
  return (
    <DetailPage
      title={route.match}
      badge={<Tag>{route.matchType === 'PATH_PREFIX' ? 'and everything below' : 'exactly'}</Tag>}
      crumbs={httpsCrumbs(edge)}
      noun="route"
      id={id}
      extraVariables={{ edgeId: edge.id }}
      remove={DeleteHttpsEdgeRoute}
      consequence="Its modules are deleted with it. Its requests go to the route that matches them next, or to none."
    >
      <DescriptionList
        items={[
          description !== '' && { name: 'Description', value: description },
          { name: 'Created', value: <RelativeTime at={createdAt} /> },
          { name: 'Id', value: <code>{id}</code> },
        ]}
      />
      {modulesForHost('httpsEdgeRoute').map(
        (module) =>
          module.Status && (
            <module.Status key={module.field} host={host} values={{}} settings={moduleSettings(module, route)} />
          ),
      )}
      <HistorySection
        operation={RouteTrafficHistory}
        ids={{ edgeId: edge.id, id }}
        pick={(result) => result.httpsEdgeRoute}
        isHttp
      />
      <ModuleList host={host} settings={route} />
      <Section title="Settings">
        <RouteForm
          key={id}
          edgeId={edge.id}
          route={route}
          onDone={() => toast('The route is changed.')}
          onCancel={() => location.route(objectPath('httpsEdge', edge.id))}
        />
      </Section>
    </DetailPage>
  );
}

export function RouteModulePage() {
  const field = useParam('module');
  const { edge, route, query } = useEdgeRoute();
  const module = modulesForHost('httpsEdgeRoute').find((one) => one.field === field);
  if (!module) return <NoSuchModule crumbs={crumbs} />;
  if (!edge || !route) return <NotYet title={module.title} noun="route" crumbs={crumbs} {...query} />;
  return (
    <ModulePage
      key={`${route.id} ${field}`}
      host={hostOf(edge, route)}
      module={module}
      settings={moduleSettings(module, route)}
      crumbs={routeCrumbs(edge, route)}
    />
  );
}

function useEdgeRoute() {
  const edgeId = useParam('id');
  const id = useParam('routeId');
  const { data, error, refetch } = useQuery(EdgeRoute, { edgeId, id }, { kinds: ['httpsEdge', 'httpsEdgeRoute'] });
  return { edge: data?.httpsEdge, route: data?.httpsEdgeRoute, query: { error, refetch } };
}

function hostOf(edge: Edge, route: Route): ModuleHost {
  return { kind: 'httpsEdgeRoute', edgeId: edge.id, id: route.id, exampleUrl: exampleUrl(edge, route.match) };
}

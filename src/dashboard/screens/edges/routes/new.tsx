// The form for a new route, and a redirect to a route by its id.

import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { edgeRoutePath, objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { EdgeHostports, EdgeOfRoute } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { NotYet } from '../detail-page.tsx';
import { edgesCrumb, httpsCrumbs } from '../navigation.ts';
import { RouteForm } from './form.tsx';

const crumbs = [edgesCrumb];

export function NewRoute() {
  const edgeId = useParam('id');
  const edge = objectPath('httpsEdge', edgeId);
  const { route } = useLocation();
  const { data, error, refetch } = useQuery(EdgeHostports, { id: edgeId });
  if (!data?.httpsEdge)
    return <NotYet title="New route" noun="HTTPS edge" crumbs={crumbs} error={error} refetch={refetch} />;
  return (
    <Page title="New route" crumbs={httpsCrumbs(data.httpsEdge)}>
      <RouteForm edgeId={edgeId} onDone={(id) => route(edgeRoutePath(edgeId, id))} onCancel={() => route(edge)} />
    </Page>
  );
}

/** Redirects to the page of a route: events and the search know only its own id. */
export function RedirectToRoute() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(EdgeOfRoute, { id });
  const { route } = useLocation();
  const edgeId = data?.node && 'edgeId' in data.node ? data.node.edgeId : undefined;
  useEffect(() => {
    if (edgeId) route(edgeRoutePath(edgeId, id), true);
  }, [edgeId, id, route]);
  if (!data || edgeId) return <NotYet title="Route" crumbs={crumbs} error={error} refetch={refetch} />;
  return (
    <Page title="Route" crumbs={crumbs}>
      <EmptyState
        title="There is no such route"
        action={<LinkButton href={edgesCrumb.href}>{edgesCrumb.title}</LinkButton>}
      >
        It has been deleted, or belongs to another account.
      </EmptyState>
    </Page>
  );
}

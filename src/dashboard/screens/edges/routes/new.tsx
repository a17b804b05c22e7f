// A new route, and the way to one that is known by its id alone.

import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { addressOf, addressOfRoute } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { EdgeOfRoute, NamesOfEdge } from '../../../generated/operations.ts';
import { Empty } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { NotYet } from '../detail-page.tsx';
import { edgesCrumb, httpsCrumbs } from '../navigation.ts';
import { RouteForm } from './form.tsx';

const crumbs = [edgesCrumb];

export function NewRoute() {
  const edgeId = useParam('id');
  const edge = addressOf('httpsEdge', edgeId);
  const { route } = useLocation();
  const { data, error, reload } = useQuery(NamesOfEdge, { id: edgeId });
  if (!data?.httpsEdge) return <NotYet title="New route" crumbs={crumbs} error={error} reload={reload} />;
  return (
    <Page title="New route" crumbs={httpsCrumbs(data.httpsEdge)}>
      <RouteForm edgeId={edgeId} onDone={(id) => route(addressOfRoute(edgeId, id))} onCancel={() => route(edge)} />
    </Page>
  );
}

/** Events and the search know routes by their ids. */
export function FindRoute() {
  const id = useParam('id');
  const { data, error, reload } = useQuery(EdgeOfRoute, { id });
  const { route } = useLocation();
  const edgeId = data?.node && 'edgeId' in data.node ? data.node.edgeId : undefined;
  useEffect(() => {
    if (edgeId) route(addressOfRoute(edgeId, id), true);
  }, [edgeId, id, route]);
  if (!data || edgeId) return <NotYet title="Route" crumbs={crumbs} error={error} reload={reload} />;
  return (
    <Page title="Route" crumbs={crumbs}>
      <Empty title="There is no route with this id">It may have been deleted.</Empty>
    </Page>
  );
}

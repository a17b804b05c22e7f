import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { EndpointById } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { LiveEndpointPage } from './live-detail.tsx';
import { endpointCrumbs } from './navigation.tsx';
import { OfflineEndpointPage } from './offline-detail.tsx';
import { ADDRESS_KINDS, rememberUrl, useRedirectToCurrentEndpoint } from './url-history.ts';

const ROUND_TRIP_POLL_MS = 5000;

/** The page of an endpoint, live or offline. If it goes offline or comes back, the page follows. */
export function EndpointPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(
    EndpointById,
    { ids: [id] },
    { kinds: ADDRESS_KINDS, pollMs: ROUND_TRIP_POLL_MS },
  );
  const found = data?.nodes?.find((node) => node !== null);
  const isEndpoint = found?.__typename === 'Endpoint' || found?.__typename === 'OfflineEndpoint';
  if (isEndpoint) rememberUrl(id, found.publicUrl);
  useRedirectToCurrentEndpoint(id, data !== undefined && !isEndpoint, objectPath);

  if (found?.__typename === 'Endpoint') return <LiveEndpointPage key={id} endpoint={found} />;
  if (found?.__typename === 'OfflineEndpoint') return <OfflineEndpointPage key={id} endpoint={found} />;
  return (
    <Page title="Endpoint" crumbs={endpointCrumbs}>
      <ErrorNote error={error} retry={() => void refetch()} />
      {!data && !error && <Skeleton />}
      {data && (
        <EmptyState
          title="This endpoint isn’t there any more"
          action={<LinkButton href={pathTo('endpoints', 'offline')}>What is offline</LinkButton>}
        >
          It went offline, or its address is served again: either way it is another object now, with another id.
        </EmptyState>
      )}
    </Page>
  );
}

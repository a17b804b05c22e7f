import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { addressOf, pathOf } from '../../data/addresses.ts';
import { useParam } from '../../data/use-param.ts';
import { useQuery } from '../../data/use-query.ts';
import { EndpointByAddress, EndpointOfEither } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { endpointCrumbs } from './crumbs.ts';
import { rememberAddress, rememberedAddress } from './known-addresses.ts';
import { LiveEndpoint } from './live-one.tsx';
import { OfflineEndpoint } from './offline-one.tsx';

const KINDS = ['endpoint', 'offlineEndpoint', 'tunnelSession'];
const ROUND_TRIP_MS = 5000;

/** An endpoint, live or offline. Who watches one that goes offline, or comes back, goes with it. */
export function EndpointPage() {
  const id = useParam('id');
  const { data, error, reload } = useQuery(EndpointOfEither, { ids: [id] }, { kinds: KINDS, everyMs: ROUND_TRIP_MS });
  const found = data?.nodes?.find((node) => node !== null);
  const isEndpoint = found?.__typename === 'Endpoint' || found?.__typename === 'OfflineEndpoint';
  if (isEndpoint) rememberAddress(id, found.publicUrl);
  useWhereItWent(id, data !== undefined && !isEndpoint);

  if (found?.__typename === 'Endpoint') return <LiveEndpoint key={id} endpoint={found} />;
  if (found?.__typename === 'OfflineEndpoint') return <OfflineEndpoint key={id} endpoint={found} />;
  return (
    <Page title="Endpoint" crumbs={endpointCrumbs}>
      <ErrorNote error={error} retry={() => void reload()} />
      {!data && !error && <Skeleton />}
      {data && (
        <Empty
          title="This endpoint isn’t there any more"
          action={<LinkButton href={pathOf('endpoints', 'offline')}>What is offline</LinkButton>}
        >
          It went offline, or its address is served again: either way it is another object now, with another id.
        </Empty>
      )}
    </Page>
  );
}

/** Goes on to what has the address now, once what had it is gone. */
function useWhereItWent(id: string, isGone: boolean): void {
  const { route } = useLocation();
  const address = rememberedAddress(id);
  const options = { kinds: KINDS, isOff: !isGone || address === undefined };
  const { data } = useQuery(EndpointByAddress, { text: address ?? '' }, options);
  const next = data?.search?.find(
    (hit) => (hit.kind === 'endpoint' || hit.kind === 'offlineEndpoint') && hit.title === address && hit.id !== id,
  );
  useEffect(() => {
    if (isGone && next) route(addressOf(next.kind, next.id), true);
  }, [isGone, next, route]);
}

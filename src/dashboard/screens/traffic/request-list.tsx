import { useEffect, useMemo, useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import {
  type CapturedRowFragment,
  type CaptureStateFragment,
  TrafficCapture,
  TrafficEndpoint,
  type TrafficEndpointRowFragment,
  type TrafficOfflineEndpointFragment,
} from '../../generated/operations.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { StatusTag } from '../../ui/feedback/status-tag.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { Milliseconds } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { ADDRESS_KINDS, rememberUrl, useRedirectToCurrentEndpoint } from '../endpoints/url-history.ts';
import { CaptureBar } from './capture-bar.tsx';
import { matchesFilter, useFilter } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import { Remarks } from './remarks.tsx';
import { useCapturedRequests } from './use-captured-requests.ts';

const CAPTURE_POLL_MS = 2000;

export const trafficCrumbs = [{ title: 'Traffic', href: pathTo('traffic') }];

/** The latest captured requests of an endpoint, live. */
export function TrafficPage() {
  const id = useParam('endpointId');
  const { data, error, refetch } = useQuery(TrafficEndpoint, { ids: [id] }, { kinds: ADDRESS_KINDS });
  const found = data?.nodes?.find((node) => node !== null);
  const endpoint = found?.__typename === 'Endpoint' || found?.__typename === 'OfflineEndpoint' ? found : undefined;
  if (endpoint) rememberUrl(id, endpoint.publicUrl);
  const isMissing = data !== undefined && !endpoint;
  useRedirectToCurrentEndpoint(id, isMissing, trafficPath);
  if (isMissing) return <EndpointNotLive id={id} />;
  if (!endpoint) {
    return (
      <Page title="Traffic" crumbs={trafficCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const isHttp = endpoint.proto === 'HTTP' || endpoint.proto === 'HTTPS';
  return (
    <Page
      title={endpoint.publicUrl}
      crumbs={trafficCrumbs}
      actions={<LinkButton href={objectPath('endpoint', id)}>Endpoint</LinkButton>}
    >
      {endpoint.__typename === 'OfflineEndpoint' && <OfflineNote endpoint={endpoint} />}
      {isHttp ? (
        <Requests key={id} endpoint={endpoint} />
      ) : (
        <EmptyState title="There are no requests to look at">
          Only requests of http and https can be captured. What passes here is {endpoint.proto.toLowerCase()}, which the
          gateway doesn’t look into.
        </EmptyState>
      )}
    </Page>
  );
}

const trafficPath = (_kind: string, id: string) => pathTo('traffic', id);

function OfflineNote({ endpoint: { offlineAt, reason } }: { endpoint: TrafficOfflineEndpointFragment }) {
  return (
    <Note variant="warn">
      <p>
        It went offline <RelativeTime at={offlineAt} />: <strong>{reason}</strong>
      </p>
    </Note>
  );
}

/** What is needed of an endpoint, live or offline. */
type Address = Pick<TrafficEndpointRowFragment, 'id' | 'publicUrl'>;

function Requests({ endpoint }: { endpoint: Address }) {
  const { id: endpointId } = endpoint;
  const {
    data,
    error,
    refetch: refetchCapture,
  } = useQuery(TrafficCapture, { endpointId }, { pollMs: CAPTURE_POLL_MS, kinds: ['trafficCapture'] });
  const capture = data?.trafficCapture;
  const [pausedAt, setPausedAt] = useState<number>();
  const isPaused = pausedAt !== undefined;
  const mayLook = capture?.mayLook === true;
  const captured = useCapturedRequests(endpointId, mayLook && capture?.isOn === true && !isPaused);
  const { rows, refetch } = captured;
  const [filter, setFilter] = useFilter();
  const filtered = useMemo(
    () => rows?.filter((row) => matchesFilter(filter, row)) ?? [],
    [rows, filter.text, filter.status],
  );

  // Another user may have cleared the capture.
  const isCleared = capture?.kept === 0;
  useEffect(() => void refetch(), [isCleared, mayLook]);

  if (error && !capture) return <ErrorNote error={error} retry={() => void refetchCapture()} />;
  if (!capture) return <Skeleton />;
  if (!mayLook) return <CaptureOfOtherUser />;
  if (!rows && !captured.error) return <Skeleton />;
  async function changed() {
    await Promise.all([refetchCapture(), refetch()]);
  }
  return (
    <>
      <CaptureBar endpointId={endpointId} capture={capture} onChange={() => void changed()} />
      <ErrorNote error={captured.error} />
      {(rows?.length ?? 0) > 0 && (
        <FilterBar filter={filter} onChange={setFilter} shown={filtered.length} all={rows?.length ?? 0}>
          {capture.isOn && (
            <Button onClick={() => setPausedAt(isPaused ? undefined : capture.passed)}>
              {isPaused ? 'Go on' : 'Pause'}
            </Button>
          )}
          {isPaused && <MissedCount count={capture.passed - pausedAt} />}
        </FilterBar>
      )}
      <Table
        label="Captured requests"
        columns={columns}
        rows={filtered}
        href={(row) => pathTo('traffic', endpointId, row.id)}
        empty={<NoRequests capture={capture} endpoint={endpoint} isFiltered={(rows?.length ?? 0) > 0} />}
      />
    </>
  );
}

function CaptureOfOtherUser() {
  return (
    <EmptyState title="Somebody else captures here">
      What is captured may hold secrets of visitors: only who switched it on, the owner of the agent’s credential, and
      admins can look at it. Once it is off and cleared, you can switch it on yourself.
    </EmptyState>
  );
}

function MissedCount({ count }: { count: number }) {
  return (
    <span role="status">{count > 0 ? `${count.toLocaleString('en')} came meanwhile` : 'The list stands still'}</span>
  );
}

interface NoRequestsProps {
  capture: CaptureStateFragment;
  endpoint: Address;
  isFiltered: boolean;
}

function NoRequests({ capture, endpoint, isFiltered }: NoRequestsProps) {
  if (isFiltered)
    return <EmptyState title="No request is like that">Choose another status or another text.</EmptyState>;
  if (!capture.isOn) {
    return (
      <EmptyState title="Nothing is captured">
        Requests are looked at only when you say so: switch capture on, then each one turns up here as soon as it is
        over.
      </EmptyState>
    );
  }
  if (capture.state === 'WAITING') {
    return (
      <EmptyState title="Capture waits until the address is online">
        It goes on by itself when an agent serves the address again, whichever node of the gateway that comes to.
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No request came yet" command={`curl ${endpoint.publicUrl}`}>
      Each one turns up here as soon as it is over. This line makes one, on a machine that knows the address.
    </EmptyState>
  );
}

function EndpointNotLive({ id }: { id: string }) {
  return (
    <Page title="Traffic" crumbs={trafficCrumbs}>
      <EmptyState
        title="This endpoint isn’t there any more"
        action={<LinkButton href={objectPath('endpoint', id)}>Why?</LinkButton>}
      >
        Its address is served no longer, and was forgotten or is another object now. A capture that is on goes on with
        the address: the overview lists it.
      </EmptyState>
    </Page>
  );
}

const columns: Column<CapturedRowFragment>[] = [
  { key: 'request', title: 'Request', width: '3fr', cell: (row) => `${row.method} ${row.path}` },
  { key: 'status', title: 'Status', width: '5.5rem', cell: (row) => <StatusTag status={row.status} /> },
  {
    key: 'duration',
    title: 'Took',
    width: '5.5rem',
    align: 'end',
    cell: (row) => <Milliseconds value={row.durationMilliseconds} />,
  },
  { key: 'remarks', title: 'Remarks', width: '3fr', cell: (row) => <Remarks row={row} /> },
  { key: 'client', title: 'Visitor', width: '1.5fr', priority: 3, cell: (row) => row.clientIp },
  { key: 'when', title: 'When', width: '6.5rem', priority: 2, cell: (row) => <RelativeTime at={row.startedAt} /> },
];

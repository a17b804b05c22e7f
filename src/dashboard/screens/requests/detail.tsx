import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { LoggedRequest, type LoggedRequestQuery } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { StatusTag } from '../../ui/feedback/status-tag.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { Bytes } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { curlCommand } from './curl.ts';
import { TimingBars } from './timing.tsx';

type Logged = NonNullable<LoggedRequestQuery['loggedRequest']>;

const crumbs = [{ title: 'Requests', href: pathTo('requests') }];

/** One request of the log. */
export function LoggedRequestPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(LoggedRequest, { id });
  const request = data?.loggedRequest;
  if (request) return <LoggedRequestView request={request} />;
  return (
    <Page title="Request" crumbs={crumbs}>
      {error?.code === 'NOT_FOUND' ? (
        <EmptyState
          title="This request isn’t in the log any more"
          action={<LinkButton href={pathTo('requests')}>All that are</LinkButton>}
        >
          Newer ones took its place, it is older than a day, or the node of the gateway that had it was stopped.
        </EmptyState>
      ) : error ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton lines={6} />
      )}
    </Page>
  );
}

function LoggedRequestView({ request }: { request: Logged }) {
  const { method, host, path, status, endpointId, refusal, errorCode, isComplete, isOpen } = request;
  return (
    <Page
      title={`${method} ${host}${path.replace(/\?.*/s, '')}`}
      badge={<StatusTag status={status} />}
      crumbs={crumbs}
      actions={
        <>
          <LinkButton href={objectPath('endpoint', endpointId)}>Endpoint</LinkButton>
          <LinkButton href={pathTo('traffic', endpointId)}>Capture this address</LinkButton>
        </>
      }
    >
      {refusal && (
        <Note variant="warn">
          <p>
            The gateway itself answered (<code>{refusal.module}</code>): <strong>{refusal.reason}</strong>
            {errorCode && (
              <>
                {' '}
                The visitor was shown <code>{errorCode}</code>.
              </>
            )}
          </p>
        </Note>
      )}
      {!isComplete && !isOpen && status !== null && <Note variant="warn">The answer was cut off before its end.</Note>}
      <Section title="Time">
        <TimingBars timing={request} />
      </Section>
      <Facts request={request} />
    </Page>
  );
}

function Facts({ request }: { request: Logged }) {
  const { method, url, userAgent, operationId, routeId } = request;
  const headers = userAgent ? ([['User-Agent', userAgent]] as const) : [];
  return (
    <DescriptionList
      items={[
        { name: 'URL', value: <CopyButton text={url} label="the URL" /> },
        {
          name: 'As a command',
          value: <CopyButton text={curlCommand({ method, url, headers })} label="the request as cURL" />,
        },
        { name: 'When', value: <RelativeTime at={request.startedAt} /> },
        { name: 'Visitor', value: request.clientIp },
        { name: 'Program', value: userAgent || <span class="muted">not said</span> },
        { name: 'Came over', value: `${request.httpVersion}, ${url.startsWith('https:') ? 'TLS' : 'without TLS'}` },
        {
          name: 'Bodies',
          value: (
            <>
              <Bytes value={request.bytesIn} /> came, <Bytes value={request.bytesOut} /> sent
            </>
          ),
        },
        routeId !== null && { name: 'Route', value: <code>{routeId}</code> },
        operationId !== null && {
          name: 'Shown to the visitor',
          value: <CopyButton text={operationId} label="the operation id" />,
        },
      ]}
    />
  );
}

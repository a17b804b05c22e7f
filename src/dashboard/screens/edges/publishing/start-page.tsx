// From a new edge to its first visitor: its DNS, an agent, a test. It has all that it needs in its URL, and ticks itself off.

import { useRoute } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { Backend, HttpsEdgeStart, StartDomain, TlsEdgeStart } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { type ListedStep, StepList } from '../../../ui/layout/step-list.tsx';
import { CopyButton } from '../../../ui/text/copy-button.tsx';
import { NotYet } from '../detail-page.tsx';
import { enabledBackendIds } from '../edge-lists.tsx';
import { Labels } from '../labels.tsx';
import { edgesCrumb, edgeTitle, exampleUrl, hostName } from '../navigation.ts';
import { AgentStep } from './agent-step.tsx';
import { TestRequest, useEdgeTest } from './test-request.tsx';

/** How often tunnels are asked for, beside their changes. */
const TUNNELS_POLL_MS = 5000;

interface StartedEdge {
  id: string;
  hostports: readonly string[];
}

export function HttpsStartPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(HttpsEdgeStart, { id }, { kinds: ['httpsEdge', 'httpsEdgeRoute'] });
  const edge = data?.httpsEdge;
  if (!edge) return <NotYet title="HTTPS edge" crumbs={[edgesCrumb]} error={error} refetch={refetch} />;
  return <StartPage kind="httpsEdge" edge={edge} backendId={enabledBackendIds(edge)[0]} />;
}

export function TlsStartPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(TlsEdgeStart, { id }, { kinds: ['tlsEdge'] });
  const edge = data?.tlsEdge;
  if (!edge) return <NotYet title="TLS edge" crumbs={[edgesCrumb]} error={error} refetch={refetch} />;
  return <StartPage kind="tlsEdge" edge={edge} backendId={enabledBackendIds(edge)[0]} />;
}

interface StartPageProps {
  kind: 'httpsEdge' | 'tlsEdge';
  edge: StartedEdge;
  /** Undefined when somebody has taken its backend away. */
  backendId: string | undefined;
}

function StartPage({ kind, edge, backendId }: StartPageProps) {
  const { query } = useRoute();
  const test = useEdgeTest(edge.id);
  const domain = useQuery(StartDomain, { id: query.domain ?? '' }, { skip: !query.domain, kinds: ['reservedDomain'] });
  const backend = useQuery(
    Backend,
    { id: backendId ?? '' },
    { skip: !backendId, kinds: ['tunnelGroupBackend', 'tunnel'], pollMs: TUNNELS_POLL_MS, keepPreviousData: true },
  );
  const { labels, tunnels = [] } = backend.data?.tunnelGroupBackend ?? {};
  const host = hostName(edge.hostports[0] ?? '');
  const cnameTarget = domain.data?.reservedDomain?.cnameTarget;
  const steps: ListedStep[] = [
    {
      title: 'The edge is there',
      isDone: true,
      help: labels && (
        <p>
          It answers <code>{host}</code> with the tunnels that have <Labels labels={labels} />.
        </p>
      ),
    },
    ...(cnameTarget && query.domain
      ? [
          {
            title: 'Its DNS leads to the gateway',
            isDone: false,
            help: (
              <>
                <p>
                  Give <code>{domain.data?.reservedDomain?.domain}</code> a CNAME record that says{' '}
                  <CopyButton text={cnameTarget} label="the target" />.
                </p>
                <p>
                  Whether it is there, and how far its certificate has come, is shown on the page of{' '}
                  <a href={objectPath('reservedDomain', query.domain)}>the domain</a>. The test below does not need it.
                </p>
              </>
            ),
          },
        ]
      : []),
    {
      title: 'An agent serves it',
      isDone: tunnels.length > 0,
      help: labels ? (
        <AgentStep host={host} labels={labels} tunnels={tunnels.length} />
      ) : (
        !backendId && <p>It has no backend any more: give it one on its page.</p>
      ),
    },
    {
      title: 'A visitor gets an answer',
      isDone: test.result?.ok === true,
      help: <TestRequest test={test} isHttp={kind === 'httpsEdge'} url={exampleUrl(edge)} />,
    },
  ];
  return (
    <Page
      title={`Start ${edgeTitle(edge)}`}
      crumbs={[edgesCrumb, { title: edgeTitle(edge), href: objectPath(kind, edge.id) }]}
      actions={
        <>
          <LinkButton href={objectPath(kind, edge.id)}>The edge</LinkButton>
          {kind === 'httpsEdge' && (
            <LinkButton href={`${pathTo('requests')}?text=${encodeURIComponent(host)}`}>Its requests</LinkButton>
          )}
        </>
      }
    >
      <ErrorNote error={backend.error ?? domain.error} retry={() => void backend.refetch()} />
      <Section title="From here to the first visitor">
        <StepList steps={steps} keepsHelp />
      </Section>
    </Page>
  );
}

import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { AgentTunnel } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { MetadataSection } from '../../ui/layout/metadata-section.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { agentCrumbs } from './navigation.ts';
import { tunnelName } from './tunnel-columns.tsx';

/** The page of a tunnel: what an agent serves at a public URL or, by labels, for edges. */
export function TunnelPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(AgentTunnel, { id }, { kinds: ['tunnel', 'tunnelGroupBackend'] });
  const tunnel = data?.tunnel;
  if (!tunnel || error) {
    return (
      <Page title="Tunnel" crumbs={agentCrumbs}>
        {error?.code === 'NOT_FOUND' ? (
          <EmptyState
            title="This tunnel is closed"
            action={<LinkButton href={pathTo('agents')}>All agents</LinkButton>}
          >
            Its agent closed it, or is not connected any more.
          </EmptyState>
        ) : error ? (
          <ErrorNote error={error} retry={() => void refetch()} />
        ) : (
          <Skeleton />
        )}
      </Page>
    );
  }
  const { endpoint, tunnelSession, backends } = tunnel;
  const crumbs = [...agentCrumbs, { title: 'Agent', href: objectPath('tunnelSession', tunnelSession.id) }];
  return (
    <Page title={tunnelName(tunnel)} crumbs={crumbs}>
      <DescriptionList
        items={[
          endpoint && { name: 'Endpoint', value: <a href={objectPath('endpoint', endpoint.id)}>{tunnel.publicUrl}</a> },
          !endpoint && { name: 'Labels', value: <code>{tunnelName(tunnel)}</code> },
          !endpoint && {
            name: 'Backends that choose it',
            value:
              backends.length === 0 ? (
                <span class="muted">none: no edge sends anything to it</span>
              ) : (
                backends.map((backend) => (
                  <div key={backend.id}>
                    <a href={objectPath('tunnelGroupBackend', backend.id)}>{backend.id}</a>
                  </div>
                ))
              ),
          },
          tunnel.proto !== null && { name: 'Protocol', value: tunnel.proto.toLowerCase() },
          { name: 'Forwards to', value: <code>{tunnel.forwardsTo || '–'}</code> },
          { name: 'Agent', value: <a href={objectPath('tunnelSession', tunnelSession.id)}>{tunnelSession.id}</a> },
          { name: 'Open', value: <RelativeTime at={tunnel.startedAt} as="since" /> },
          tunnel.region !== '' && { name: 'Region', value: tunnel.region },
          { name: 'Id', value: <CopyButton text={tunnel.id} label="the id" /> },
        ]}
      />
      <MetadataSection text={tunnel.metadata} />
      <AuditHistory id={id} />
    </Page>
  );
}

import { useQuery } from '../../data/hooks/use-query.ts';
import { addressOf, pathOf } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { AgentTunnel } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Empty } from '../../ui/layout/empty-state.tsx';
import { Notes } from '../../ui/layout/metadata-section.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Copy } from '../../ui/text/copy-button.tsx';
import { Facts } from '../../ui/text/description-list.tsx';
import { When } from '../../ui/text/relative-time.tsx';
import { agentCrumbs } from './detail.tsx';
import { tunnelName } from './tunnel-columns.tsx';

/** One tunnel: what an agent serves at an address, or by labels for edges. */
export function TunnelPage() {
  const id = useParam('id');
  const { data, error, reload } = useQuery(AgentTunnel, { id }, { kinds: ['tunnel', 'tunnelGroupBackend'] });
  const tunnel = data?.tunnel;
  if (!tunnel || error) {
    return (
      <Page title="Tunnel" crumbs={agentCrumbs}>
        {error?.code === 'NOT_FOUND' ? (
          <Empty title="This tunnel is closed" action={<LinkButton href={pathOf('agents')}>All agents</LinkButton>}>
            Its agent closed it, or is not connected any more.
          </Empty>
        ) : error ? (
          <ErrorNote error={error} retry={() => void reload()} />
        ) : (
          <Skeleton />
        )}
      </Page>
    );
  }
  const { endpoint, tunnelSession, backends } = tunnel;
  const crumbs = [...agentCrumbs, { title: 'Agent', href: addressOf('tunnelSession', tunnelSession.id) }];
  return (
    <Page title={tunnelName(tunnel)} crumbs={crumbs}>
      <Facts
        facts={[
          endpoint && { name: 'Endpoint', value: <a href={addressOf('endpoint', endpoint.id)}>{tunnel.publicUrl}</a> },
          !endpoint && { name: 'Labels', value: <code>{tunnelName(tunnel)}</code> },
          !endpoint && {
            name: 'Backends that choose it',
            value:
              backends.length === 0 ? (
                <span class="quiet">none: no edge sends anything to it</span>
              ) : (
                backends.map((backend) => (
                  <div key={backend.id}>
                    <a href={addressOf('tunnelGroupBackend', backend.id)}>{backend.id}</a>
                  </div>
                ))
              ),
          },
          tunnel.proto !== null && { name: 'Protocol', value: tunnel.proto },
          { name: 'Forwards to', value: <code>{tunnel.forwardsTo || '–'}</code> },
          { name: 'Agent', value: <a href={addressOf('tunnelSession', tunnelSession.id)}>{tunnelSession.id}</a> },
          { name: 'Open', value: <When at={tunnel.startedAt} as="since" /> },
          tunnel.region !== '' && { name: 'Region', value: tunnel.region },
          { name: 'Id', value: <Copy text={tunnel.id} what="the id" /> },
        ]}
      />
      <Notes text={tunnel.metadata} />
    </Page>
  );
}

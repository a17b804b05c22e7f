// The most important properties of an edge.

import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { type EdgeKind, hostName } from './navigation.ts';
import { TunnelCount, useTunnelCounts } from './tunnel-count.tsx';

interface EdgeSummaryProps {
  kind: EdgeKind;
  edge: { id: string; createdAt: string; hostports: readonly string[]; description: string };
  /** The ids of the tunnel groups that get its traffic. */
  backends: readonly string[];
}

export function EdgeSummary({ kind, edge, backends }: EdgeSummaryProps) {
  const { id, createdAt, hostports, description } = edge;
  const noun = kind === 'tcpEdge' ? 'address' : 'name';
  const count = useTunnelCounts(backends)(backends);
  return (
    <DescriptionList
      items={[
        {
          name: noun === 'address' ? 'Addresses' : 'Names',
          value:
            hostports.length > 0 ? (
              <ul class="plain-list">
                {hostports.map((hostport) => (
                  <li key={hostport}>
                    <CopyButton text={hostName(hostport)} label={`the ${noun}`} />
                  </li>
                ))}
              </ul>
            ) : (
              'none yet: nobody can visit it'
            ),
        },
        { name: 'Behind it', value: count === undefined ? '…' : <TunnelCount count={count} /> },
        description !== '' && { name: 'Description', value: description },
        { name: 'Created', value: <RelativeTime at={createdAt} /> },
        { name: 'Id', value: <code>{id}</code> },
      ]}
    />
  );
}

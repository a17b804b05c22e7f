// What is to be known of an edge at a glance.

import { Copy } from '../../ui/text/copy-button.tsx';
import { Facts } from '../../ui/text/description-list.tsx';
import { When } from '../../ui/text/relative-time.tsx';
import { nameOf } from './navigation.ts';
import { TunnelCount, useTunnelsBehind } from './tunnel-count.tsx';

interface EdgeFactsProps {
  edge: { id: string; createdAt: string; hostports: readonly string[]; description: string };
  /** The tunnel groups that its traffic goes to. */
  backends: readonly string[];
}

export function EdgeFacts({ edge: { id, createdAt, hostports, description }, backends }: EdgeFactsProps) {
  const count = useTunnelsBehind(backends)(backends);
  return (
    <Facts
      facts={[
        {
          name: 'Names',
          value:
            hostports.length > 0 ? (
              <ul class="plain-list">
                {hostports.map((hostport) => (
                  <li key={hostport}>
                    <Copy text={nameOf(hostport)} what="the name" />
                  </li>
                ))}
              </ul>
            ) : (
              'none yet: nobody can visit it'
            ),
        },
        { name: 'Behind it', value: count === undefined ? '…' : <TunnelCount count={count} /> },
        description !== '' && { name: 'Description', value: description },
        { name: 'Created', value: <When at={createdAt} /> },
        { name: 'Id', value: <code>{id}</code> },
      ]}
    />
  );
}

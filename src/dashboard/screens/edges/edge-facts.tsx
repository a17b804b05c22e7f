// What is to be known of an edge at a glance.

import { Copy } from '../../ui/copy.tsx';
import { Facts } from '../../ui/facts.tsx';
import { When } from '../../ui/when.tsx';
import { nameOf } from './places.ts';
import { TunnelCount } from './tunnel-count.tsx';
import { useTunnelsBehind } from './use-tunnels-behind.ts';

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

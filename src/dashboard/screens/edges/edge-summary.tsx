// What is to be known of an edge at a glance.

import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
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
    <DescriptionList
      items={[
        {
          name: 'Names',
          value:
            hostports.length > 0 ? (
              <ul class="plain-list">
                {hostports.map((hostport) => (
                  <li key={hostport}>
                    <CopyButton text={nameOf(hostport)} label="the name" />
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

import { pathTo } from '../../data/routing/paths.ts';
import type { OverviewQuery } from '../../generated/operations.ts';
import { Section } from '../../ui/layout/page.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

type Capture = NonNullable<OverviewQuery['runningCaptures']>['nodes'][number];

/** Whose requests are being captured, because a capture is easily forgotten; nothing when none is. */
export function RunningCaptures({ overview: { runningCaptures } }: { overview: OverviewQuery }) {
  if (!runningCaptures || runningCaptures.nodes.length === 0) return null;
  return (
    <Section title="Captures that are on">
      <ul class="problems" aria-label="Captures that are on">
        {runningCaptures.nodes.map((capture) => (
          <li key={capture.id}>
            <Address capture={capture} />
            <span class="problem-since">
              {capture.state === 'WAITING' && 'waits until it is online · '}ends <RelativeTime at={capture.endsAt} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** With a link to its traffic, where something is known of it: an offline address may have been forgotten. */
function Address({ capture: { publicUrl, endpoint, offlineEndpoint } }: { capture: Capture }) {
  const id = endpoint?.id ?? offlineEndpoint?.id;
  return id === undefined ? <span>{publicUrl}</span> : <a href={pathTo('traffic', id)}>{publicUrl}</a>;
}

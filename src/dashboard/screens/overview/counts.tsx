import { pathTo } from '../../data/routing/paths.ts';
import type { OverviewQuery } from '../../generated/operations.ts';
import { Count, formatCount } from '../../ui/text/numbers.tsx';

/** How many there are of what matters, each with a link to the list of them. */
export function Counts({ overview }: { overview: OverviewQuery }) {
  const { endpointCounts, online, agents } = overview;
  const all = agents?.totalCount ?? 0;
  return (
    <ul class="counts" aria-label="How many">
      <CountLink name="live" state="live" count={endpointCounts?.live} href={pathTo('endpoints')} />
      <CountLink name="failing" state="failing" count={endpointCounts?.failing} href={pathTo('endpoints', 'failing')} />
      <CountLink name="offline" state="off" count={endpointCounts?.offline} href={pathTo('endpoints', 'offline')} />
      <CountLink name={`of ${formatCount(all)} agents online`} count={online?.totalCount} href={pathTo('agents')} />
    </ul>
  );
}

interface CountLinkProps {
  name: string;
  count: number | undefined;
  href: string;
  /** How the count is marked, if it is above zero. */
  state?: 'live' | 'failing' | 'off';
}

function CountLink({ name, count = 0, href, state }: CountLinkProps) {
  return (
    <li>
      <a class={`count ${count > 0 ? (state ?? '') : ''}`} href={href}>
        <strong>
          <Count value={count} />
        </strong>{' '}
        <span class="count-name">
          {state && (
            <span class={`dot ${count > 0 ? state : 'unknown'}`} aria-hidden="true">
              <span class="dot-mark" />
            </span>
          )}
          {name}
        </span>
      </a>
    </li>
  );
}

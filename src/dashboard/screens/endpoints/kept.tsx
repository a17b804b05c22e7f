import { now } from '../../data/clock.ts';
import { When } from '../../ui/when.tsx';

/** Until when a name is kept for the credential that served it. */
export function Kept({ until }: { until: string | null }) {
  const isKept = until !== null && Date.parse(until) > now.value;
  return isKept ? <When at={until} /> : <span class="quiet">no longer</span>;
}

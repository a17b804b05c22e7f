import type { ComponentChildren } from 'preact';
import { kindOf } from '../../../data/routing/paths.ts';
import { TunnelCount, useTunnelCounts } from '../tunnel-count.tsx';

/** The live tunnels behind each backend that another one names. @returns nothing for what is no tunnel group. */
export function useMemberTunnels(ids: readonly string[]): (id: string) => ComponentChildren {
  const groups = ids.filter((id) => kindOf(id) === 'tunnelGroupBackend');
  const countTunnels = useTunnelCounts(groups);
  return (id) => {
    const count = groups.includes(id) ? countTunnels([id]) : undefined;
    return count !== undefined && <TunnelCount count={count} />;
  };
}

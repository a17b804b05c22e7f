import { useMemo } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { kindOf } from '../../data/routing/paths.ts';
import { BackendTunnels } from '../../generated/operations.ts';
import { Tag } from '../../ui/feedback/tag.tsx';

/** The number of live tunnels, or that another backend than a tunnel group chooses for each visit; zero is highlighted. */
export function TunnelCount({ count }: { count: number | 'chosen' }) {
  if (count === 'chosen') return <Tag variant="plain">chosen by visit</Tag>;
  return (
    <Tag variant={count === 0 ? 'warn' : 'plain'}>
      {count === 0 ? 'no tunnel' : count === 1 ? '1 tunnel' : `${count} tunnels`}
    </Tag>
  );
}

/** The limit of `nodes` in the API. */
const ASKED_MAX = 100;

/**
 * Loads the live tunnels of these groups, and keeps them current.
 * @returns a function that counts the different tunnels of some of the groups; undefined while they are loading, `chosen` where
 *   one is no tunnel group.
 */
export function useTunnelCounts(
  backends: readonly string[],
): (some: readonly string[]) => number | 'chosen' | undefined {
  const ids = [...new Set(backends)].sort().slice(0, ASKED_MAX);
  const { data } = useQuery(
    BackendTunnels,
    { ids },
    { kinds: ['tunnel', 'tunnelGroupBackend'], keepPreviousData: true, skip: ids.length === 0 },
  );
  return useMemo(() => {
    const known = new Map<string, readonly string[]>();
    for (const node of data?.nodes ?? [])
      if (node && 'tunnels' in node)
        known.set(
          node.id,
          node.tunnels.map(({ id }) => id),
        );
    return (some) => {
      if (some.some((id) => kindOf(id) !== 'tunnelGroupBackend')) return 'chosen';
      if (some.some((id) => !known.has(id))) return undefined;
      return new Set(some.flatMap((id) => known.get(id) ?? [])).size;
    };
  }, [data]);
}

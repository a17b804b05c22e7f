// Asks the gateway what ACL rules mean while the user types.

import { useDebounced } from '../../data/hooks/use-debounced.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { TryAcl, type TryAclQuery } from '../../generated/operations.ts';

/** The debounce time of the request. */
const DEBOUNCE_MS = 150;

export type AclDryRun = NonNullable<TryAclQuery['tryAcl']>;

/** @returns the latest result, which may be about the previous input. */
export function useAclDryRun(acl: readonly string[], binds: readonly string[] = []): AclDryRun | undefined {
  const debounced = useDebounced(JSON.stringify({ acl, binds }), DEBOUNCE_MS);
  const { data } = useQuery(TryAcl, JSON.parse(debounced), { keepPreviousData: true });
  return data?.tryAcl ?? undefined;
}

// Asks the gateway what ACL rules mean while the user types.

import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { TryAcl, type TryAclQuery } from '../../generated/operations.ts';

/** The debounce time of the request. */
const PAUSE_MS = 150;

export type AclDryRun = NonNullable<TryAclQuery['tryAcl']>;

/** @returns the latest result, which may be about the previous input. */
export function useAclDryRun(acl: readonly string[], binds: readonly string[] = []): AclDryRun | undefined {
  const asked = useSettled(JSON.stringify({ acl, binds }));
  const { data } = useQuery(TryAcl, JSON.parse(asked), { keepPreviousData: true });
  return data?.tryAcl ?? undefined;
}

/** The text after the debounce time. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

// What rules mean, asked as one types.

import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { TryAcl, type TryAclQuery } from '../../generated/operations.ts';

/** Who types fast is not asked about every letter. */
const PAUSE_MS = 150;

export type AclDryRun = NonNullable<TryAclQuery['tryAcl']>;

/** @returns what is known so far: it may be about what stood there a moment ago. */
export function useAclDryRun(acl: readonly string[], binds: readonly string[] = []): AclDryRun | undefined {
  const asked = useSettled(JSON.stringify({ acl, binds }));
  const { data } = useQuery(TryAcl, JSON.parse(asked), { keepPreviousData: true });
  return data?.tryAcl ?? undefined;
}

/** The last text that stood for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

// By what nodes recognize the same limit and the same circuit breaker: each makes its modules by itself.

import { createHash } from 'node:crypto';
import type { JoinBreakers } from './circuit-breaker.ts';
import type { ModuleEnvironment, ModuleOwner } from './module.ts';

/** Where a module is: its owner, its place there, and its settings. */
export interface SharedPlace {
  owner: Pick<ModuleOwner, 'scope'>;
  environment: Pick<ModuleEnvironment, 'shared'>;
  place: string;
  /** What can be written as JSON, and is the same at each node. */
  settings: unknown;
}

/** How a circuit breaker joins those of other nodes; undefined where it has none to join. */
export function joinBreakers(of: SharedPlace): JoinBreakers | undefined {
  const shared = of.environment.shared?.();
  if (!shared || !of.owner.scope) return undefined;
  return (breaker) => {
    const id = sharedId(of);
    return id === undefined ? undefined : shared.joinBreaker(id, breaker);
  };
}

/** Counts events against a limit over all nodes; undefined where there are no others, or the owner is not known to them. */
export function sharedLimit(
  of: SharedPlace,
  limit: { capacity: number; windowMs: number },
): ((key: string) => number | Promise<number> | undefined) | undefined {
  const shared = of.environment.shared?.();
  if (!shared || !of.owner.scope) return undefined;
  let id: string | undefined;
  return (key) => {
    id ??= sharedId(of);
    return id === undefined ? undefined : shared.takeLimit(id, limit, key);
  };
}

function sharedId({ owner, place, settings }: SharedPlace): string | undefined {
  const scope = owner.scope?.();
  if (scope === undefined) return undefined;
  return createHash('sha256')
    .update(JSON.stringify([scope, place, settings]))
    .digest('base64url');
}

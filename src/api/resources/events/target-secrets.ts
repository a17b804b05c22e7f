// Secrets of event targets that an update leaves out.

import { recipientOf, type Target } from '../../../events/sinks/index.ts';
import { mapSecrets } from '../../../events/sinks/secrets.ts';
import { openTarget, storedTarget, type TargetRow } from '../../../store/events/target.ts';
import type { Keys } from '../../../store/keys/keys.ts';
import { ApiError } from '../../errors/errors.ts';
import { toApiRow } from '../../errors/event-errors.ts';
import { ProblemCollector } from '../../errors/problems.ts';

/**
 * Gives a target the secrets that its input left out: those of the row it replaces, as long as they would be sent to the
 * same recipient. Otherwise whoever may change a destination could have its secrets delivered elsewhere.
 * @throws {ApiError} naming the secrets, when there are none to keep.
 */
export function completeTarget(target: Target, keys: Keys, replaced?: TargetRow): Target {
  let kept: ReadonlyMap<string, string | null> | undefined;
  const problems = new ProblemCollector();
  const complete = mapSecrets(target, (secret, { path, member: inTarget, missing }) => {
    if (secret !== null) return secret;
    const member = `target.${inTarget}`;
    const isElsewhere = replaced && recipientOf(storedTarget(replaced)) !== recipientOf(target);
    kept ??= replaced && !isElsewhere ? secretsOf(openTarget(keys, replaced)) : new Map();
    const stored = kept.get(path);
    if (!stored) problems.add(new ApiError(isElsewhere ? 'secretNeeded' : toApiRow(missing), { member }));
    return stored ?? null;
  });
  problems.throwIfAny();
  return complete;
}

/** All secrets of a target, by their paths. */
function secretsOf(target: Target): Map<string, string | null> {
  const secrets = new Map<string, string | null>();
  mapSecrets(target, (secret, { path }) => {
    secrets.set(path, secret);
    return secret;
  });
  return secrets;
}

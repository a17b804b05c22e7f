// Owners as other objects name them.

import { ownerPath } from '../../../store/edge-paths.ts';
import type { Reference } from '../../builder/builder.ts';

/** A user or a bot user as another object names it. */
export function ownerRef(id: string): Reference {
  return { id, path: ownerPath(id) };
}

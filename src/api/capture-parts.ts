// What the API needs of captures: they are in the memory of the node that is asked, and nowhere else.

import type { Captures } from '../capture/captures.ts';
import type { Replays } from '../capture/replay.ts';

export interface CaptureParts {
  readonly captures: Captures;
  readonly replays: Replays;
}

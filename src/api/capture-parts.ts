// What the API needs of captures: they are in the memory of the node that is asked, and nowhere else.

import type { Captures } from '../edge/capture/captures.ts';
import type { Replays } from '../edge/capture/replay.ts';

export interface CaptureParts {
  readonly captures: Captures;
  readonly replays: Replays;
}

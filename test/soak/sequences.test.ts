// `npm run soak -- sequences`; PROPERTY_SEED gives other ones.

import { test } from 'vitest';
import { liveThrough } from '../contract/sequences.ts';

test(
  'the same operations have the same outcome and leave the same state, in a thousand sequences',
  {
    timeout: 1_800_000,
  },
  () => liveThrough(1000),
);

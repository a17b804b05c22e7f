// Shortened; `npm run soak -- sequences` has the full count.

import { test } from 'vitest';
import { onServer } from '../support/gateway/gateway.ts';
import { liveThrough } from './sequences.ts';

test(
  'the same operations have the same outcome and leave the same state, whichever door they take',
  {
    timeout: 60_000,
  },
  () => liveThrough(onServer ? 40 : 8),
);

// The compression module of a route.

import { compressionModule } from '../../edge/modules/compression.ts';
import { toggle } from './toggle.ts';

export const compression = toggle(compressionModule, {
  noun: 'compression',
  type: 'Compression',
  description:
    'Compresses answers for visitors who take it, in the best of br, gzip and deflate. What is compressed already, is ' +
    'short, or says `Cache-Control: no-transform` goes on as it is.',
});

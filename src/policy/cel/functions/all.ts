// The functions that expressions have beyond those of the language, and in place of some of these.

import type { CelFunc } from '@bufbuild/cel';
import { COLLECTION_FUNCTIONS } from './collections.ts';
import { CORE_FUNCTIONS } from './core.ts';
import { ENCODING_FUNCTIONS } from './encodings.ts';
import { HASH_FUNCTIONS } from './hashes.ts';
import { LOOP_FUNCTIONS } from './loops.ts';
import { NETWORK_FUNCTIONS } from './networks.ts';
import { RANDOM_FUNCTIONS } from './random.ts';
import { STRING_FUNCTIONS } from './strings.ts';
import { TIME_FUNCTIONS } from './times.ts';

/** All of them; a later one takes the place of an earlier one with the same name and types. */
export const FUNCTIONS: CelFunc[] = [
  ...CORE_FUNCTIONS,
  ...TIME_FUNCTIONS,
  ...STRING_FUNCTIONS,
  ...COLLECTION_FUNCTIONS,
  ...ENCODING_FUNCTIONS,
  ...HASH_FUNCTIONS,
  ...NETWORK_FUNCTIONS,
  ...RANDOM_FUNCTIONS,
  ...LOOP_FUNCTIONS,
];

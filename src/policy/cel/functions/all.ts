// All functions that this gateway adds to CEL, or replaces in it.

import { type CelFunc, celFunc } from '@bufbuild/cel';
import { DOUBLE, INT } from '../types.ts';
import { COLLECTION_FUNCTIONS } from './collections.ts';
import { CORE_FUNCTIONS } from './core.ts';
import { ENCODING_FUNCTIONS } from './encodings.ts';
import { HASH_FUNCTIONS } from './hashes.ts';
import { LOOP_FUNCTIONS } from './loops.ts';
import { NETWORK_FUNCTIONS } from './networks.ts';
import { STRING_FUNCTIONS } from './strings.ts';
import { TIME_FUNCTIONS } from './times.ts';

/** A random integer from `min` to `max`, both inclusive. */
function between(min: bigint, max: bigint): bigint {
  if (min < 0n || max < min || max >= 2n ** 52n)
    throw new Error(`rand.int(${min}, ${max}) needs a smaller and a larger number, from 0 to 2^52`);
  return min + BigInt(Math.floor(Math.random() * Number(max - min + 1n)));
}

/** Random numbers, for example for canary releases. They are not cryptographically secure. */
const RANDOM_FUNCTIONS: CelFunc[] = [
  celFunc('rand.double', [], DOUBLE, () => Math.random()),
  celFunc('rand.int', [], INT, () => between(0n, 1n)),
  celFunc('rand.int', [INT, INT], INT, between),
];

/** All functions. A later one replaces an earlier one with the same name and types. */
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

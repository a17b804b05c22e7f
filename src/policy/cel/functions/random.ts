// Functions of chance, for sending a part of the visitors another way. They are not for secrets.

import { type CelFunc, celFunc } from '@bufbuild/cel';
import { DOUBLE, INT } from '../types.ts';

/** A whole number from `min` to `max`, both of them included. */
function between(min: bigint, max: bigint): bigint {
  if (min < 0n || max < min || max >= 2n ** 52n)
    throw new Error(`rand.int(${min}, ${max}) needs a smaller and a larger number, from 0 to 2^52`);
  return min + BigInt(Math.floor(Math.random() * Number(max - min + 1n)));
}

export const RANDOM_FUNCTIONS: CelFunc[] = [
  celFunc('rand.double', [], DOUBLE, () => Math.random()),
  celFunc('rand.int', [], INT, () => between(0n, 1n)),
  celFunc('rand.int', [INT, INT], INT, between),
];

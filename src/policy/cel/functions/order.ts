// The order of values.

import { type CelValue, celType, isCelUint } from '@bufbuild/cel';
import { isReflectMessage } from '@bufbuild/protobuf/reflect';
import { spend } from '../cost-budget.ts';
import { describeType, typeName } from '../types.ts';

/** A value whose order by `<` is the order of CEL. */
type Rank = bigint | number | string | boolean;

/**
 * Sorts values by their keys in ascending order. The sort is stable.
 * @throws {Error} unless all keys have one type, which has an order.
 */
export function sortByKey<T>(values: readonly T[], keyOf: (value: T) => CelValue): T[] {
  spend(1 + values.length * Math.log2(values.length + 1));
  let type: string | undefined;
  const ranked = values.map((value) => {
    const key = keyOf(value);
    const name = typeName(celType(key));
    type ??= name;
    if (name !== type) throw new Error(`cannot sort values of type ${name} and ${type}`);
    return { value, rank: rankOf(key) };
  });
  return ranked.sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0)).map(({ value }) => value);
}

function rankOf(key: CelValue): Rank {
  if (typeof key === 'string') {
    spend(1 + key.length / 64);
    return key;
  }
  if (typeof key === 'bigint' || typeof key === 'number' || typeof key === 'boolean') return key;
  if (isCelUint(key)) return key.value;
  if (key instanceof Uint8Array) return Buffer.from(key).toString('latin1');
  if (isReflectMessage(key)) {
    const { seconds, nanos } = key.message as unknown as { seconds: bigint; nanos: number };
    if (typeof seconds === 'bigint') return seconds * 1_000_000_000n + BigInt(nanos);
  }
  throw new Error(`cannot sort ${describeType(celType(key))}: it has no order`);
}

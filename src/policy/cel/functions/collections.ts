// Functions on lists and maps.

import { type CelFunc, type CelList, type CelValue, celFunc, celList, celMethod, isCelList } from '@bufbuild/cel';
import { growList, spend } from '../cost-budget.ts';
import { DYN, INT, LIST, MAP } from '../types.ts';
import { equals } from './equality.ts';
import { sortByKey } from './order.ts';

function slice(list: CelList, start: bigint, end: bigint): CelList {
  if (start < 0n || end > BigInt(list.size) || start > end)
    throw new Error(`slice(${start}, ${end}) is not within a list of ${list.size}`);
  growList(Number(end - start));
  return celList(Array.from({ length: Number(end - start) }, (_, i) => list.get(Number(start) + i) as CelValue));
}

function flatten(list: CelList, depth: bigint): CelList {
  if (depth < 0n) throw new Error('flatten() needs a depth of 0 or more');
  const elements: CelValue[] = [];
  addFlat(list, depth, elements);
  return celList(elements);
}

function addFlat(list: CelList, depth: bigint, elements: CelValue[]): void {
  spend(list.size);
  for (const element of list) {
    if (depth > 0n && isCelList(element)) addFlat(element, depth - 1n, elements);
    else elements.push(element);
  }
  growList(elements.length);
}

function distinct(list: CelList): CelList {
  growList(list.size);
  const scalars = new Set<CelValue>();
  const others: CelValue[] = [];
  return celList(
    [...list].filter((element) => {
      if (typeof element === 'string' || typeof element === 'boolean') {
        const { size } = scalars;
        return scalars.add(element).size > size;
      }
      spend(others.length);
      const isNew = !others.some((other) => equals(other, element));
      if (isNew) others.push(element);
      return isNew;
    }),
  );
}

export const COLLECTION_FUNCTIONS: CelFunc[] = [
  celMethod('slice', LIST, [INT, INT], LIST, function (start, end) {
    return slice(this, start, end);
  }),
  celMethod('flatten', LIST, [], LIST, function () {
    return flatten(this, 1n);
  }),
  celMethod('flatten', LIST, [INT], LIST, function (depth) {
    return flatten(this, depth);
  }),
  celMethod('sort', LIST, [], LIST, function () {
    return celList(sortByKey([...this], (element) => element));
  }),
  celMethod('distinct', LIST, [], LIST, function () {
    return distinct(this);
  }),
  celFunc('lists.range', [INT], LIST, (size) => {
    if (size < 0n) throw new Error('lists.range() needs 0 or more');
    growList(Number(size));
    return celList(Array.from({ length: Number(size) }, (_, i) => BigInt(i)));
  }),
  celMethod('get', MAP, [DYN], DYN, function (key) {
    const value = this.get(key as string);
    if (value === undefined) throw new Error(`there is no ${String(key)} in the map`);
    return value;
  }),
];

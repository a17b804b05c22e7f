// The functions that expanded macros call. Expressions cannot call them, as their names are not identifiers.

import {
  type CelFunc,
  type CelInput,
  type CelList,
  type CelValue,
  celFunc,
  celList,
  isCelList,
  isCelMap,
} from '@bufbuild/cel';
import { ELEMENTS_MAX, growList, spend } from '../cost-budget.ts';
import { BOOL, DYN, INT, LIST } from '../types.ts';
import { sortByKey } from './order.ts';

/** The mutable lists that loops build, by the list values that CEL sees. */
const growing = new WeakMap<CelList, CelInput[]>();

export const LOOP_FUNCTIONS: CelFunc[] = [
  // The range of a loop. It spends the cost of the loop, so many operations for each element.
  celFunc('@each', [DYN, INT], DYN, (range, operations) => {
    if (isCelList(range) || isCelMap(range)) spend(range.size * Number(operations));
    return range;
  }),
  // The condition of a loop. An error becomes a value in CEL; this ends the loop, which would otherwise continue for
  // nothing.
  celFunc('@going', [DYN], DYN, (isGoing) => {
    spend(0);
    return isGoing;
  }),
  celFunc('@list', [], LIST, () => {
    const elements: CelInput[] = [];
    const list = celList(elements);
    growing.set(list, elements);
    return list;
  }),
  // Only the loop refers to the list before it is complete, so that the list may be changed in place.
  celFunc('@append', [LIST, DYN], LIST, (list, element) => {
    const elements = growing.get(list) as CelInput[];
    if (elements.length >= ELEMENTS_MAX) growList(elements.length + 1);
    elements.push(element);
    return list;
  }),
  // Sorts pairs of an element and its sort key.
  celFunc('@sorted', [LIST], LIST, (pairs) => {
    const entries = Array.from(pairs as Iterable<CelList>, (pair) => ({ element: pair.get(0), key: pair.get(1) }));
    return celList(sortByKey(entries, ({ key }) => key as CelValue).map(({ element }) => element as CelInput));
  }),
  // False when the argument has a value. Without a value the call is an error, as for every function.
  celFunc('@absent', [DYN], BOOL, () => false),
  celFunc('@has', [DYN, DYN], BOOL, (value, key) => {
    if (isCelMap(value)) return value.has(key as string);
    if (!isCelList(value)) throw new Error('has() needs an element of a list or a field of a map');
    return Number(key) >= 0 && Number(key) < value.size && Number.isInteger(Number(key));
  }),
];

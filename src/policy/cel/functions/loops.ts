// What the compiler puts in place of macros. Nobody can call these: their names are none.

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

/** The lists that loops are making, by what CEL sees of them. */
const growing = new WeakMap<CelList, CelInput[]>();

export const LOOP_FUNCTIONS: CelFunc[] = [
  // What a loop goes through, once its work is paid for: so many operations for each element.
  celFunc('@each', [DYN, INT], DYN, (range, operations) => {
    if (isCelList(range) || isCelMap(range)) spend(range.size * Number(operations));
    return range;
  }),
  // Whether a loop goes on. What its functions throw is a value to it, but this ends it: nothing is done in vain.
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
  // The loop alone has the list until it is made, so that it may be changed.
  celFunc('@append', [LIST, DYN], LIST, (list, element) => {
    const elements = growing.get(list) as CelInput[];
    if (elements.length >= ELEMENTS_MAX) growList(elements.length + 1);
    elements.push(element);
    return list;
  }),
  // Pairs of an element and what it is sorted by.
  celFunc('@sorted', [LIST], LIST, (pairs) => {
    const entries = Array.from(pairs as Iterable<CelList>, (pair) => ({ element: pair.get(0), key: pair.get(1) }));
    return celList(sortByKey(entries, ({ key }) => key as CelValue).map(({ element }) => element as CelInput));
  }),
  // False when its argument has a value; an error, as every function's, when it has none.
  celFunc('@absent', [DYN], BOOL, () => false),
  celFunc('@has', [DYN, DYN], BOOL, (value, key) => {
    if (isCelMap(value)) return value.has(key as string);
    if (!isCelList(value)) throw new Error('has() needs an element of a list or a field of a map');
    return Number(key) >= 0 && Number(key) < value.size && Number.isInteger(Number(key));
  }),
];

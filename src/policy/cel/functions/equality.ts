// The equality of values, with its cost.

import { type CelValue, celEnv } from '@bufbuild/cel';
import { spendText } from '../cost-budget.ts';
import { spendValue } from './metered.ts';

const standard = celEnv({}).funcs.find('_==_');

/** The equality of CEL: numbers of all types are compared by value, lists and maps by their elements. */
export function equals(left: CelValue, right: CelValue): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' && typeof right !== 'object') {
    if (typeof left === 'string') {
      if (typeof right === 'string' && left.length === right.length) spendText(left.length);
      return false;
    }
    // biome-ignore lint/suspicious/noDoubleEquals: whole numbers and others are equal when they are the same number
    return typeof left !== 'boolean' && typeof right !== 'boolean' && typeof right !== 'string' && left == right;
  }
  spendValue(left);
  spendValue(right);
  return standard?.call(0, undefined, [left, right]) === true;
}

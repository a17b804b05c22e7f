// Adds cost accounting to library functions: the size of their arguments is counted before the call.

import {
  type CelFunc,
  type CelInput,
  type CelValue,
  celFunc,
  celMethod,
  isCelError,
  isCelList,
  isCelMap,
} from '@bufbuild/cel';
import { growText, spend, spendText } from '../cost-budget.ts';

/** Spends the cost of a full traversal of a value. A list that occurs several times counts each time. */
export function spendValue(value: CelValue): void {
  if (typeof value === 'string' || value instanceof Uint8Array) spendText(value.length);
  else if (typeof value !== 'object' || value === null) spend(1);
  else if (isCelList(value)) {
    spend(1);
    for (const element of value) spendValue(element);
  } else if (isCelMap(value)) {
    spend(1);
    for (const [key, element] of value) {
      spendValue(key);
      spendValue(element);
    }
  } else spend(1);
}

/** Wraps a function so that it spends the cost of its arguments and of its result. */
export function metered(form: CelFunc): CelFunc {
  function call(this: CelValue | undefined, ...args: CelValue[]): CelInput {
    if (this !== undefined) spendValue(this);
    for (const arg of args) spendValue(arg);
    const result = form.call(0, this, args);
    if (result === undefined || isCelError(result)) throw result ?? new Error('is not for values of these types');
    if (typeof result === 'string') growText(result.length);
    return result;
  }
  return form.target
    ? celMethod(form.name, form.target, form.arguments, form.result, call)
    : celFunc(form.name, form.arguments, form.result, call as (...args: CelValue[]) => CelInput);
}

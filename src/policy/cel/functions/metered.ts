// Functions of others that say nothing of what they cost: what they are given is counted before they are called.

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

/** Takes the units for going through a value once, whole. A list in a list counts as often as it is met. */
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

/** The same function, which counts what it is given and what it returns. */
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

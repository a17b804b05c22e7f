// Values of any type in the config of actions. Their texts are templates.

import type { CelInput } from '@bufbuild/cel';
import type { Bindings } from '../cel/vocabulary.ts';
import type { ConfigReader } from './action-kind.ts';
import { PROBLEM } from './problems.ts';

/** The largest nesting depth of lists and objects. */
const DEPTH_MAX = 8;

/** Computes a value for one request or connection. */
export type ComputedValue = (bindings: Bindings) => CelInput;

/**
 * Compiles a value. Texts are templates; integers become `int`, other numbers `double`; lists and objects are compiled
 * recursively. Mistakes are reported to `config`.
 * @param path the place of the value, for problems.
 */
export function compileValue(config: ConfigReader, path: string, raw: unknown, depth = 1): ComputedValue {
  if (depth > DEPTH_MAX) {
    config.problem(path, PROBLEM.length, `must not be nested deeper than ${DEPTH_MAX} levels`);
    return () => null;
  }
  if (typeof raw === 'string') {
    const template = config.compile(path, raw);
    return (bindings) => template.evaluateValue(bindings);
  }
  if (Array.isArray(raw)) {
    const items = raw.map((item, i) => compileValue(config, `${path}[${i}]`, item, depth + 1));
    return (bindings) => items.map((item) => item(bindings));
  }
  if (isObject(raw)) {
    const members = Object.entries(raw).map(
      ([name, value]) => [name, compileValue(config, `${path}.${name}`, value, depth + 1)] as const,
    );
    return (bindings) => new Map(members.map(([name, value]) => [name, value(bindings)]));
  }
  const constant = constantOf(raw);
  return () => constant;
}

function constantOf(raw: unknown): CelInput {
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? BigInt(raw) : raw;
  return typeof raw === 'boolean' ? raw : null;
}

/** Whether a value is an object, and not a list or null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

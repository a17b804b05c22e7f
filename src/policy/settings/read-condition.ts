// A condition in the config of an action, with other names than those of the phase.

import { CelError } from '../cel/errors.ts';
import { type CelCondition, compileCondition } from '../cel/expression.ts';
import type { Vocabulary } from '../cel/vocabulary.ts';
import type { ConfigReader } from './action-kind.ts';
import { PROBLEM } from './problems.ts';

/** Reads a condition. @returns undefined when the member is missing, and after a mistake, which is reported. */
export function readCondition(config: ConfigReader, name: string, vocabulary: Vocabulary): CelCondition | undefined {
  const text = config.has(name) ? config.text(name) : '';
  if (text === '') return undefined;
  try {
    return compileCondition(text, vocabulary);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    config.problem(name, PROBLEM.expression, `cannot be read at character ${error.position + 1}: ${error.message}`);
    return undefined;
  }
}

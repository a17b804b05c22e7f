// The environments of expressions: the functions of CEL, our own, and those of a vocabulary.

import { type CelEnv, celEnv } from '@bufbuild/cel';
import { FUNCTIONS } from './functions/all.ts';
import { RE2 } from './regex.ts';
import type { Vocabulary } from './vocabulary.ts';

/** The base environment of all expressions. */
export const ENVIRONMENT = { funcs: FUNCTIONS, re2: RE2 };

/** The environment of a vocabulary. */
export interface Environment {
  readonly env: CelEnv;
  readonly vocabulary: Vocabulary;
}

const environments = new WeakMap<Vocabulary, Environment>();

/** Returns the cached environment of a vocabulary. */
export function environmentOf(vocabulary: Vocabulary): Environment {
  const made = environments.get(vocabulary);
  if (made) return made;
  const env = celEnv({ ...ENVIRONMENT, funcs: [...ENVIRONMENT.funcs, ...vocabulary.functions] });
  const environment = { env, vocabulary };
  environments.set(vocabulary, environment);
  return environment;
}

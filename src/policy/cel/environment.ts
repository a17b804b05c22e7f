// What expressions are evaluated in: the functions of the language, ours, and those of a vocabulary.

import { type CelEnv, celEnv } from '@bufbuild/cel';
import { FUNCTIONS } from './functions/all.ts';
import { RE2 } from './regex.ts';
import type { Vocabulary } from './vocabulary.ts';

/** What every expression has, whatever it is about. */
export const ENVIRONMENT = { funcs: FUNCTIONS, re2: RE2 };

export interface Environment {
  readonly env: CelEnv;
  readonly vocabulary: Vocabulary;
}

const environments = new WeakMap<Vocabulary, Environment>();

/** The environment of a vocabulary; the same one each time. */
export function environmentOf(vocabulary: Vocabulary): Environment {
  const made = environments.get(vocabulary);
  if (made) return made;
  const env = celEnv({ ...ENVIRONMENT, funcs: [...ENVIRONMENT.funcs, ...vocabulary.functions] });
  const environment = { env, vocabulary };
  environments.set(vocabulary, environment);
  return environment;
}

// What expressions are about: the names that the phase of a policy gives them.

import type { CelFunc, CelInput, CelType } from '@bufbuild/cel';

/** What of a visit a rule is asked about. */
export type PolicyPhase = 'on_tcp_connect' | 'on_http_request' | 'on_http_response';

export interface Vocabulary {
  /** Variables by their whole name, `req.url.path`: a name may be a value and have others below it. */
  readonly variables: Readonly<Record<string, CelType>>;
  /** Names, with all below them, that exist elsewhere and cannot be had here: why, in words to be read behind the name. */
  readonly missing: Readonly<Record<string, string>>;
  /** Functions beyond those of the language and of `functions/`. */
  readonly functions: readonly CelFunc[];
  /**
   * Functions that see a variable which is not written: `getReqHeader('x')` is `getReqHeader(req.headers, 'x')`. By the
   * name of the function the name of the variable, which becomes its first argument.
   */
  readonly contextual: Readonly<Record<string, string>>;
}

/** The values of the variables, by their whole names. Getters are called when an expression needs them, and only then. */
export type Bindings = Readonly<Record<string, CelInput>>;

// The vocabulary of expressions: the names that they can use in a phase of a policy.

import type { CelFunc, CelInput, CelType } from '@bufbuild/cel';

/** The phase in which a rule runs. */
export type PolicyPhase = 'on_tcp_connect' | 'on_http_request' | 'on_http_response';

/** The names of one phase. */
export interface Vocabulary {
  /** The types of variables by their full names, as in `req.url.path`. A variable may have others below it. */
  readonly variables: Readonly<Record<string, CelType>>;
  /** Unsupported names, including all below them, with the reason, worded to be read after the name. */
  readonly missing: Readonly<Record<string, string>>;
  /** Functions in addition to those of CEL and of `functions/`. */
  readonly functions: readonly CelFunc[];
  /**
   * Functions with an implicit first argument: `getReqHeader('x')` means `getReqHeader(req.headers, 'x')`. The map has
   * the name of the variable by the name of the function.
   */
  readonly contextual: Readonly<Record<string, string>>;
}

/** The values of variables by their full names. They are getters, which are called only when an expression uses them. */
export type Bindings = Readonly<Record<string, CelInput>>;

// Collects the mistakes in a policy.

import type { PolicyProblem } from '../../protocol/policy/policy-shape.ts';

/** The most problems that are reported; a longer list helps nobody. */
export const PROBLEMS_MAX = 20;

/** The error numbers, as in `ERR_GATEWAY_<number>`. Existing clients know them. */
export const PROBLEM = {
  expression: 2200,
  unknownAction: 2201,
  phase: 2202,
  field: 2204,
  protocol: 2205,
  unreachable: 2207,
  headerNameLength: 2208,
  headerValueLength: 2209,
  headerName: 2210,
  headerValue: 2211,
  headerCount: 2212,
  algorithm: 2214,
  range: 2215,
  cidr: 2217,
  count: 2218,
  reserved: 2219,
  length: 2221,
  choice: 2222,
  empty: 2223,
  template: 2224,
  duration: 2225,
  url: 2226,
  issuer: 2227,
  duplicate: 2231,
  missing: 2234,
  document: 2236,
  secondSignIn: 2239,
  cookieDomain: 2241,
  variable: 2252,
  regex: 2261,
  forwardDenied: 90361,
  masked: 90390,
  unknownSecret: 90709,
} as const;

/** A policy is invalid. The message names all mistakes. */
export class PolicyError extends Error {
  readonly problems: readonly PolicyProblem[];

  /** @param problems the mistakes, at least one. */
  constructor(problems: readonly PolicyProblem[]) {
    super(problems.map(({ path, message }) => `${path || 'the document'} ${message}`).join('; '));
    this.problems = problems;
  }

  /** The error number, which is that of the first problem. */
  get number(): number {
    return this.problems[0]?.number ?? PROBLEM.document;
  }
}

/** A list of at most 20 problems. */
export class Problems {
  readonly list: PolicyProblem[] = [];

  report(path: string, number: number, message: string): void {
    if (this.list.length < PROBLEMS_MAX) this.list.push({ path, message, number });
  }
}

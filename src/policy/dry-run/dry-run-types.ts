// The input and the result of a dry run, as plain data.

import type { PolicyProblem } from '../../protocol/policy/policy-shape.ts';
import type { PolicyPhase } from '../cel/vocabulary.ts';
import type { PolicyWarning } from '../settings/action-kind.ts';

/** A header field. */
export interface DryRunField {
  name: string;
  value: string;
}

/** The description of a request. */
export interface DryRunRequest {
  /** The method; GET when left out. */
  method?: string;
  /** The URL, as in `https://shop.example.com/a?b=c`. */
  url: string;
  headers?: readonly DryRunField[];
  body?: string;
  /** The visitor's address; 192.0.2.1 when left out. */
  clientIp?: string;
  clientPort?: number;
}

/** The description of the upstream's response. */
export interface DryRunResponse {
  /** The status; 200 when left out. */
  status?: number;
  headers?: readonly DryRunField[];
  body?: string;
}

/** The result of an expression. Expressions after the first false one are not evaluated. */
export interface DryRunExpression {
  text: string;
  /** The value as JSON; undefined when the expression was not evaluated or failed. */
  value: unknown;
  /** The error of a failed expression; undefined otherwise. */
  error: string | undefined;
}

/** An action that was run, without its effects outside of the dry run. */
export interface DryRunAction {
  /** The type in the policy, as in `add-headers`. */
  type: string;
  /** Its effects, a line for each, as in `adds x-a: 1` or `answers with 403`. */
  effects: string[];
  /** The value of its variable `actions.<name>`; undefined when it sets none. */
  result: Record<string, unknown> | undefined;
  /** The error of a failed action; undefined otherwise. */
  error: string | undefined;
}

/** The state of a rule. `unreached`: an earlier action has ended the phase. */
export type DryRunRuleState = 'matched' | 'unmatched' | 'failed' | 'unreached';

/** What a rule did. */
export interface DryRunRule {
  phase: PolicyPhase;
  /** The index of the rule in its phase, from 0. */
  index: number;
  name: string | undefined;
  state: DryRunRuleState;
  expressions: DryRunExpression[];
  actions: DryRunAction[];
}

/** The request that the upstream would get. */
export interface DryRunForwarded {
  method: string;
  url: string;
  headers: DryRunField[];
  /** The URL of the internal endpoint that the request is forwarded to; undefined when it goes to the endpoint itself. */
  internal: string | undefined;
}

/** The response that the visitor would get. */
export interface DryRunReturned {
  status: number;
  headers: DryRunField[];
  /** The body; undefined when it is the upstream's own. */
  body: string | undefined;
  /** The code `ERR_GATEWAY_…` of an error of the gateway; undefined otherwise. */
  error: string | undefined;
}

/** `forwarded`: to the upstream; `answered`: the policy responds; `refused`: with an error; `closed`: the connection. */
export type DryRunOutcomeKind = 'forwarded' | 'answered' | 'refused' | 'closed';

/** The outcome of a request or a connection. */
export interface DryRunOutcome {
  kind: DryRunOutcomeKind;
  /** The reason of a refusal, as in the log. */
  reason: string | undefined;
  /** The request to the upstream; undefined when there is none, and for tcp and tls. */
  request: DryRunForwarded | undefined;
  /** The response; undefined when the connection is closed, or the upstream's response was not described. */
  response: DryRunReturned | undefined;
}

/** The result of a dry run. */
export interface DryRunResult {
  /** The mistakes in the policy; with any, nothing was run. */
  problems: readonly PolicyProblem[];
  /** What is allowed in it, and hardly meant. */
  warnings: readonly PolicyWarning[];
  /** All rules, in the order of the phases. */
  rules: DryRunRule[];
  /** The entries of the `log` actions. */
  notes: object[];
  /** The outcome; undefined when the policy is invalid. */
  outcome: DryRunOutcome | undefined;
}

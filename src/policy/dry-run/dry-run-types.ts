// What a trial run of a policy is told, and what it tells. Plain data, for whoever shows it.

import type { PolicyProblem } from '../../protocol/policy/policy-shape.ts';
import type { PolicyPhase } from '../cel/vocabulary.ts';

export interface DryRunField {
  name: string;
  value: string;
}

/** A request as a visitor might send it. */
export interface DryRunRequest {
  /** GET where nothing else is said. */
  method?: string;
  /** `https://shop.example.com/a?b=c`. */
  url: string;
  headers?: readonly DryRunField[];
  body?: string;
  /** 192.0.2.1 where nothing else is said. */
  clientIp?: string;
  clientPort?: number;
}

/** An answer as upstream might give it. */
export interface DryRunResponse {
  /** 200 where nothing else is said. */
  status?: number;
  headers?: readonly DryRunField[];
  body?: string;
}

/** One expression of a rule, as far as it was looked at: after the first that does not hold, none is. */
export interface DryRunExpression {
  text: string;
  /** In JSON; undefined when it was not looked at, or failed. */
  value: unknown;
  /** Why it has no value; undefined otherwise. */
  error: string | undefined;
}

/** One action that was carried out, as far as that goes here. */
export interface DryRunAction {
  /** As it is written in the policy: `add-headers`. */
  type: string;
  /** What it does, a line each: `adds x-a: 1`, `answers with 403`. */
  effects: string[];
  /** What later expressions see under `actions.<name>`; undefined when it says nothing. */
  result: Record<string, unknown> | undefined;
  /** Why it failed; undefined otherwise. */
  error: string | undefined;
}

/** `unreached`: an action before it ended the phase. */
export type DryRunRuleState = 'matched' | 'unmatched' | 'failed' | 'unreached';

export interface DryRunRule {
  phase: PolicyPhase;
  /** Its place within its phase, from 0. */
  index: number;
  name: string | undefined;
  state: DryRunRuleState;
  expressions: DryRunExpression[];
  actions: DryRunAction[];
}

/** A request, as upstream gets it in the end. */
export interface DryRunForwarded {
  method: string;
  url: string;
  headers: DryRunField[];
  /** The URL of the internal endpoint that is asked instead; undefined when it is the endpoint itself. */
  internal: string | undefined;
}

/** An answer, as the visitor gets it in the end. */
export interface DryRunReturned {
  status: number;
  headers: DryRunField[];
  /** Undefined where it is upstream's own. */
  body: string | undefined;
  /** `ERR_GATEWAY_…`, where it is one of the gateway's own errors. */
  error: string | undefined;
}

/** `forwarded`: upstream is asked; `answered`: it is not, the policy answers; `refused`: turned away; `closed`: hung up on. */
export type DryRunOutcomeKind = 'forwarded' | 'answered' | 'refused' | 'closed';

export interface DryRunOutcome {
  kind: DryRunOutcomeKind;
  /** Why the visitor is turned away, as the log says it. */
  reason: string | undefined;
  /** What goes to upstream; undefined where nothing does, and for tcp and tls, which have no requests. */
  request: DryRunForwarded | undefined;
  /** What comes back; undefined when the connection is closed, or upstream is asked and no answer of it was described. */
  response: DryRunReturned | undefined;
}

export interface DryRunResult {
  /** What is wrong with the policy; nothing was run then. */
  problems: readonly PolicyProblem[];
  /** Every rule in the order of phases. */
  rules: DryRunRule[];
  /** What the `log` actions say. */
  notes: object[];
  /** Undefined when the policy cannot be used. */
  outcome: DryRunOutcome | undefined;
}

// What a trial run of a policy is told, and what it tells. Plain data, for whoever shows it.

import type { PolicyProblem } from '../../protocol/policy/policy-shape.ts';
import type { Phase } from '../cel/vocabulary.ts';

export interface DryField {
  name: string;
  value: string;
}

/** A request as a visitor might send it. */
export interface DryRequest {
  /** GET where nothing else is said. */
  method?: string;
  /** `https://shop.example.com/a?b=c`. */
  url: string;
  headers?: readonly DryField[];
  body?: string;
  /** 192.0.2.1 where nothing else is said. */
  clientIp?: string;
  clientPort?: number;
}

/** An answer as upstream might give it. */
export interface DryResponse {
  /** 200 where nothing else is said. */
  status?: number;
  headers?: readonly DryField[];
  body?: string;
}

/** One expression of a rule, as far as it was looked at: after the first that does not hold, none is. */
export interface DryExpression {
  text: string;
  /** In JSON; undefined when it was not looked at, or failed. */
  value: unknown;
  /** Why it has no value; undefined otherwise. */
  error: string | undefined;
}

/** One action that was carried out, as far as that goes here. */
export interface DryAction {
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
export type DryRuleState = 'matched' | 'unmatched' | 'failed' | 'unreached';

export interface DryRule {
  phase: Phase;
  /** Its place within its phase, from 0. */
  index: number;
  name: string | undefined;
  state: DryRuleState;
  expressions: DryExpression[];
  actions: DryAction[];
}

/** A request, as upstream gets it in the end. */
export interface DryForwarded {
  method: string;
  url: string;
  headers: DryField[];
  /** The URL of the internal endpoint that is asked instead; undefined when it is the endpoint itself. */
  internal: string | undefined;
}

/** An answer, as the visitor gets it in the end. */
export interface DryAnswered {
  status: number;
  headers: DryField[];
  /** Undefined where it is upstream's own. */
  body: string | undefined;
  /** `ERR_GATEWAY_…`, where it is one of the gateway's own errors. */
  error: string | undefined;
}

/** `forwarded`: upstream is asked; `answered`: it is not, the policy answers; `refused`: turned away; `closed`: hung up on. */
export type DryOutcomeKind = 'forwarded' | 'answered' | 'refused' | 'closed';

export interface DryOutcome {
  kind: DryOutcomeKind;
  /** Why the visitor is turned away, as the log says it. */
  reason: string | undefined;
  /** What goes to upstream; undefined where nothing does, and for tcp and tls, which have no requests. */
  request: DryForwarded | undefined;
  /** What comes back; undefined when the connection is closed, or upstream is asked and no answer of it was described. */
  response: DryAnswered | undefined;
}

export interface DryRunResult {
  /** What is wrong with the policy; nothing was run then. */
  problems: readonly PolicyProblem[];
  /** Every rule in the order of phases. */
  rules: DryRule[];
  /** What the `log` actions say. */
  notes: object[];
  /** Undefined when the policy cannot be used. */
  outcome: DryOutcome | undefined;
}

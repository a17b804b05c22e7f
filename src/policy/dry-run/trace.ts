// Writes down what the rules of a policy do, as they do it.

import { plain } from '../run/json-value.ts';
import type { Observer, PhaseRun, PolicyRules, Rule, Step } from '../run/phase-run.ts';
import type { ActionVerdict } from '../settings/action-kind.ts';
import { type Before, before, effects } from './effects.ts';
import type { DryRule } from './types.ts';

const PHASES = ['on_tcp_connect', 'on_http_request', 'on_http_response'] as const;

export class Trace implements Observer {
  /** Every rule, in the order of phases. */
  readonly rules: DryRule[];
  readonly #byRule = new Map<Rule, DryRule>();
  #before: Before | undefined;

  constructor(rules: PolicyRules) {
    this.rules = PHASES.flatMap((phase) => rules[phase] ?? []).map((rule) => this.#blank(rule));
  }

  onRule(rule: Rule): void {
    this.#of(rule).state = 'matched';
  }

  onCondition(rule: Rule, index: number, value: boolean | Error): void {
    const told = this.#of(rule);
    const expression = told.expressions[index];
    if (!expression) return;
    if (value instanceof Error) expression.error = value.message;
    else expression.value = value;
    if (value !== true) told.state = value === false ? 'unmatched' : 'failed';
  }

  onStep(_rule: Rule, _step: Step, run: PhaseRun): void {
    this.#before = before(run);
  }

  onDone(rule: Rule, { type, result }: Step, run: PhaseRun, verdict: ActionVerdict): void {
    const said = result === undefined ? undefined : run.actions.get(result);
    const hasFailed = verdict?.kind === 'refuse' && verdict.error === 'policyFailed';
    const told = this.#of(rule);
    if (hasFailed) told.state = 'failed';
    told.actions.push({
      type,
      effects: effects(this.#before as Before, run, verdict),
      result: said && (plain(said) as Record<string, unknown>),
      error: hasFailed ? verdict.reason : undefined,
    });
  }

  #blank(rule: Rule): DryRule {
    const { phase, index, name } = rule;
    const expressions = rule.conditions.map(({ text }) => ({ text, value: undefined, error: undefined }));
    const told: DryRule = { phase, index, name, state: 'unreached', expressions, actions: [] };
    this.#byRule.set(rule, told);
    return told;
  }

  #of(rule: Rule): DryRule {
    return this.#byRule.get(rule) as DryRule;
  }
}

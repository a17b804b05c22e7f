// Records what the rules of a policy do during a dry run.

import { toJsonValue } from '../run/json-value.ts';
import type { CompiledRules, PhaseRun, PolicyRule, RuleStep, RunObserver } from '../run/phase-run.ts';
import type { ActionVerdict } from '../settings/action-kind.ts';
import type { DryRunRule } from './dry-run-types.ts';
import { describeEffects, type ExchangeSnapshot, takeSnapshot } from './effects.ts';

const PHASES = ['on_tcp_connect', 'on_http_request', 'on_http_response'] as const;

/** The record of one dry run. */
export class Trace implements RunObserver {
  /** All rules, in the order of the phases. */
  readonly rules: DryRunRule[];
  readonly #byRule = new Map<PolicyRule, DryRunRule>();
  #before: ExchangeSnapshot | undefined;

  constructor(rules: CompiledRules) {
    this.rules = PHASES.flatMap((phase) => rules[phase] ?? []).map((rule) => this.#newRecord(rule));
  }

  onRule(rule: PolicyRule): void {
    this.#recordOf(rule).state = 'matched';
  }

  onCondition(rule: PolicyRule, index: number, value: boolean | Error): void {
    const recorded = this.#recordOf(rule);
    const expression = recorded.expressions[index];
    if (!expression) return;
    if (value instanceof Error) expression.error = value.message;
    else expression.value = value;
    if (value !== true) recorded.state = value === false ? 'unmatched' : 'failed';
  }

  onStepStart(_rule: PolicyRule, _step: RuleStep, run: PhaseRun): void {
    this.#before = takeSnapshot(run);
  }

  onStepEnd(rule: PolicyRule, { type, result }: RuleStep, run: PhaseRun, verdict: ActionVerdict): void {
    const value = result === undefined ? undefined : run.actions.get(result);
    const hasFailed = verdict?.kind === 'refuse' && verdict.error === 'policyFailed';
    const recorded = this.#recordOf(rule);
    if (hasFailed) recorded.state = 'failed';
    recorded.actions.push({
      type,
      effects: describeEffects(this.#before as ExchangeSnapshot, run, verdict),
      result: value && (toJsonValue(value) as Record<string, unknown>),
      error: hasFailed ? verdict.reason : undefined,
    });
  }

  #newRecord(rule: PolicyRule): DryRunRule {
    const { phase, index, name } = rule;
    const expressions = rule.conditions.map(({ text }) => ({ text, value: undefined, error: undefined }));
    const recorded: DryRunRule = { phase, index, name, state: 'unreached', expressions, actions: [] };
    this.#byRule.set(rule, recorded);
    return recorded;
  }

  #recordOf(rule: PolicyRule): DryRunRule {
    return this.#byRule.get(rule) as DryRunRule;
  }
}

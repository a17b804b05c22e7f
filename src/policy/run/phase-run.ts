// Runs the rules of a phase: their expressions in order, then their actions in order. It is synchronous unless an action
// is not.

import type { CelInput } from '@bufbuild/cel';
import type { HttpExchange } from '../../http/exchange.ts';
import type { ModuleEnvironment, NewConnection, SecretReader } from '../../http/module.ts';
import { CelFailure } from '../cel/errors.ts';
import { bindingsOf } from '../cel/variables/bindings.ts';
import type { Bindings, PolicyPhase } from '../cel/vocabulary.ts';
import type { ActionRun, ActionVerdict, CompiledAction } from '../settings/action-kind.ts';
import { maskValues } from './mask-values.ts';

/** A compiled expression of a rule. */
export interface RuleCondition {
  readonly text: string;
  test(bindings: Bindings): boolean;
}

/** A compiled action of a rule. */
export interface RuleStep {
  /** The type in the policy. */
  readonly type: string;
  readonly action: CompiledAction;
  /** The name of its variable `actions.<name>`; undefined when it sets none. */
  readonly result: string | undefined;
  /** Its rule and type, for the log. */
  readonly place: string;
  /** Where it is in the policy. */
  readonly path: string;
}

/** A compiled rule. */
export interface PolicyRule {
  readonly phase: PolicyPhase;
  /** Its index in the phase, from 0. */
  readonly index: number;
  readonly name: string | undefined;
  readonly conditions: readonly RuleCondition[];
  readonly steps: readonly RuleStep[];
  /** Its name or its path, for the log. */
  readonly place: string;
  /** Whether its effects depend on the request's path. */
  readonly readsPath: boolean;
}

/** The variables `actions.<name>`. The response phase also has those of the request phase. */
export type ActionResults = Map<string, Record<string, CelInput>>;

/** The rules of each phase. A phase without rules is left out. */
export type CompiledRules = Partial<Record<PolicyPhase, readonly PolicyRule[]>>;

/** Observes a run, for dry runs. */
export interface RunObserver {
  /** Called before a rule is evaluated. */
  onRule(rule: PolicyRule): void;
  /** Called after an expression. @param value its value or its error. */
  onCondition(rule: PolicyRule, index: number, value: boolean | Error): void;
  /** Called before an action. */
  onStepStart(rule: PolicyRule, step: RuleStep, run: PhaseRun): void;
  /** Called after an action. */
  onStepEnd(rule: PolicyRule, step: RuleStep, run: PhaseRun, verdict: ActionVerdict): void;
}

/** The run of a phase for one request, response or connection. */
export class PhaseRun implements ActionRun {
  readonly phase: PolicyPhase;
  readonly exchange: HttpExchange | undefined;
  readonly connection: NewConnection | undefined;
  readonly bindings: Bindings;
  readonly vars = new Map<string, CelInput>();
  readonly actions: ActionResults;
  /** The actions that have let the request pass and wait for the upstream's outcome. */
  waiting: CompiledAction[] | undefined;
  readonly #rules: readonly PolicyRule[];
  readonly #observer: RunObserver | undefined;
  readonly #secrets: SecretReader;

  constructor(
    rules: readonly PolicyRule[],
    phase: PolicyPhase,
    about: { exchange?: HttpExchange; connection?: NewConnection },
    results: ActionResults,
    environment: Pick<ModuleEnvironment, 'time' | 'locate' | 'secrets'>,
    observer?: RunObserver,
  ) {
    this.#rules = rules;
    this.#observer = observer;
    this.#secrets = environment.secrets;
    this.phase = phase;
    this.exchange = about.exchange;
    this.connection = about.connection;
    this.actions = results;
    this.bindings = bindingsOf(about, phase, this, environment);
  }

  // These are getters with bound functions, as actions may destructure the run.
  get result() {
    return (name: string, value: Record<string, CelInput>) => void this.actions.set(name, value);
  }

  get variable() {
    return (name: string, value: CelInput) => void this.vars.set(name, value);
  }

  /**
   * Runs the rules.
   * @returns undefined when all let it pass. An exception is a bug, except the runtime error of an expression.
   */
  start(): ActionVerdict | Promise<ActionVerdict> {
    return this.#continue(0, 0);
  }

  /** Asks an action of these rules alone, for one of the gateway's own paths. */
  answerOwnPath(rule: PolicyRule, step: RuleStep): ActionVerdict | Promise<ActionVerdict> {
    const settle = (verdict: ActionVerdict) => this.#withPlace(rule, step, verdict);
    try {
      const verdict = step.action.answerOwnPath?.(this);
      return verdict instanceof Promise
        ? verdict.then(settle, (error: unknown) => this.#failure(error))
        : settle(verdict);
    } catch (error) {
      return this.#failure(error);
    }
  }

  /** Continues the run. @param stepAt the index of the next action; with 0 the rule's expressions come first. */
  #continue(ruleAt: number, stepAt: number): ActionVerdict | Promise<ActionVerdict> {
    for (let i = ruleAt; i < this.#rules.length; i++) {
      const rule = this.#rules[i] as PolicyRule;
      const first = i === ruleAt ? stepAt : 0;
      if (first === 0) {
        const matches = this.#matches(rule);
        if (matches === false) continue;
        if (matches !== true) return matches;
      }
      for (let j = first; j < rule.steps.length; j++) {
        const step = rule.steps[j] as RuleStep;
        const verdict = this.#runStep(rule, step);
        if (verdict instanceof Promise)
          return verdict
            .catch((error: unknown) => this.#failure(error))
            .then((later) => this.#withPlace(rule, step, later) ?? this.#continue(i, j + 1));
        const decision = this.#withPlace(rule, step, verdict);
        if (decision) return decision;
      }
    }
    return undefined;
  }

  #matches(rule: PolicyRule): boolean | ActionVerdict {
    this.#observer?.onRule(rule);
    for (let i = 0; i < rule.conditions.length; i++) {
      try {
        const matches = (rule.conditions[i] as RuleCondition).test(this.bindings);
        this.#observer?.onCondition(rule, i, matches);
        if (!matches) return false;
      } catch (error) {
        this.#observer?.onCondition(rule, i, error as Error);
        return this.#failure(error, `${rule.place}, expression ${i + 1}: `);
      }
    }
    return true;
  }

  #runStep(rule: PolicyRule, step: RuleStep): ActionVerdict | Promise<ActionVerdict> {
    this.#observer?.onStepStart(rule, step, this);
    try {
      return step.action.run(this);
    } catch (error) {
      return this.#failure(error);
    }
  }

  /** The verdict of an action, with the path of the action in its reason. */
  #withPlace(rule: PolicyRule, step: RuleStep, verdict: ActionVerdict): ActionVerdict {
    this.#observer?.onStepEnd(rule, step, this, verdict);
    if (!verdict) {
      if (step.action.onOutcome) this.waiting = [...(this.waiting ?? []), step.action];
      return undefined;
    }
    if (verdict.kind === 'forward' || verdict.reason === undefined) return verdict;
    return { ...verdict, reason: `${step.place}: ${this.#masked(verdict.reason)}` };
  }

  /** A reason, which the log has, without secrets. */
  #masked(reason: string): string {
    const accountId = (this.exchange ?? this.connection)?.endpoint.accountId ?? '';
    return maskValues(reason, { secrets: this.#secrets, accountId });
  }

  /** The refusal after a runtime error (fail closed). */
  #failure(error: unknown, place = ''): NonNullable<ActionVerdict> {
    if (!(error instanceof CelFailure)) throw error;
    const reason = `${place}${this.#masked(error.message)}`;
    if (this.connection) return { kind: 'close', reason };
    return { kind: 'refuse', error: 'policyFailed', reason };
  }
}

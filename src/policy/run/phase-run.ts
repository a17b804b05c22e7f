// Runs the rules of a phase: expressions in order, then actions in order. Nothing waits unless an action does.

import type { CelInput } from '@bufbuild/cel';
import type { HttpExchange } from '../../http/exchange.ts';
import type { ModuleEnvironment, NewConnection } from '../../http/module.ts';
import { CelFailure } from '../cel/errors.ts';
import { bindingsOf } from '../cel/variables/bindings.ts';
import type { Bindings, PolicyPhase } from '../cel/vocabulary.ts';
import type { ActionRun, ActionVerdict, CompiledAction } from '../settings/action-kind.ts';

export interface RuleCondition {
  readonly text: string;
  test(bindings: Bindings): boolean;
}

export interface RuleStep {
  /** As the policy calls it. */
  readonly type: string;
  readonly action: CompiledAction;
  /** What it is called in `actions.<name>`; undefined when it says nothing. */
  readonly result: string | undefined;
  /** Where it stands, for the log. */
  readonly place: string;
}

export interface PolicyRule {
  readonly phase: PolicyPhase;
  /** Its place in the phase, from 0. */
  readonly index: number;
  readonly name: string | undefined;
  readonly conditions: readonly RuleCondition[];
  readonly steps: readonly RuleStep[];
  /** Its name, or where it stands, for the log. */
  readonly place: string;
  /** Whether what it does depends on the path of the request. */
  readonly readsPath: boolean;
}

/** What actions have said of themselves; the response's phase sees what the request's did. */
export type ActionResults = Map<string, Record<string, CelInput>>;

/** The rules of each phase; one that has none is missing. */
export type CompiledRules = Partial<Record<PolicyPhase, readonly PolicyRule[]>>;

/** Sees everything that is done, for trial runs. */
export interface RunObserver {
  /** A rule is looked at. */
  onRule(rule: PolicyRule): void;
  /** @param value of an expression, or what it failed with. */
  onCondition(rule: PolicyRule, index: number, value: boolean | Error): void;
  /** An action is about to run. */
  onStepStart(rule: PolicyRule, step: RuleStep, run: PhaseRun): void;
  /** It has run. */
  onStepEnd(rule: PolicyRule, step: RuleStep, run: PhaseRun, verdict: ActionVerdict): void;
}

/** One request, one answer, or one connection on its way through the rules. */
export class PhaseRun implements ActionRun {
  readonly phase: PolicyPhase;
  readonly exchange: HttpExchange | undefined;
  readonly connection: NewConnection | undefined;
  readonly bindings: Bindings;
  readonly vars = new Map<string, CelInput>();
  readonly actions: ActionResults;
  /** Actions that let it pass, and want to hear what upstream does. */
  waiting: CompiledAction[] | undefined;
  readonly #rules: readonly PolicyRule[];
  readonly #observer: RunObserver | undefined;

  constructor(
    rules: readonly PolicyRule[],
    phase: PolicyPhase,
    about: { exchange?: HttpExchange; connection?: NewConnection },
    results: ActionResults,
    environment: Pick<ModuleEnvironment, 'time'>,
    observer?: RunObserver,
  ) {
    this.#rules = rules;
    this.#observer = observer;
    this.phase = phase;
    this.exchange = about.exchange;
    this.connection = about.connection;
    this.actions = results;
    this.bindings = bindingsOf(about, phase, this, environment);
  }

  // Getters, since actions may take them out of the run.
  get result() {
    return (name: string, value: Record<string, CelInput>) => void this.actions.set(name, value);
  }

  get variable() {
    return (name: string, value: CelInput) => void this.vars.set(name, value);
  }

  /** @returns undefined when all rules let it pass. What throws is a bug, but for what an expression runs into. */
  start(): ActionVerdict | Promise<ActionVerdict> {
    return this.#goOn(0, 0);
  }

  /** @param stepAt the action to begin with; 0: whether the rule matches is still to be seen. */
  #goOn(ruleAt: number, stepAt: number): ActionVerdict | Promise<ActionVerdict> {
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
        const verdict = this.#take(rule, step);
        if (verdict instanceof Promise)
          return verdict
            .catch((error: unknown) => this.#failure(error))
            .then((later) => this.#decided(rule, step, later) ?? this.#goOn(i, j + 1));
        const decision = this.#decided(rule, step, verdict);
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

  #take(rule: PolicyRule, step: RuleStep): ActionVerdict | Promise<ActionVerdict> {
    this.#observer?.onStepStart(rule, step, this);
    try {
      return step.action.run(this);
    } catch (error) {
      return this.#failure(error);
    }
  }

  /** @returns what an action decided, with the place of the action in its reason. */
  #decided(rule: PolicyRule, step: RuleStep, verdict: ActionVerdict): ActionVerdict {
    this.#observer?.onStepEnd(rule, step, this, verdict);
    if (!verdict) {
      if (step.action.onOutcome) this.waiting = [...(this.waiting ?? []), step.action];
      return undefined;
    }
    if (verdict.kind === 'forward' || verdict.reason === undefined) return verdict;
    return { ...verdict, reason: `${step.place}: ${verdict.reason}` };
  }

  /** Who cannot be judged is not let in. */
  #failure(error: unknown, place = ''): NonNullable<ActionVerdict> {
    if (!(error instanceof CelFailure)) throw error;
    const reason = `${place}${error.message}`;
    if (this.connection) return { kind: 'close', reason };
    return { kind: 'refuse', error: 'policyFailed', reason };
  }
}

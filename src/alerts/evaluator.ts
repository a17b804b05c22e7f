// Evaluates all rules every few seconds, at one node at a time.

import type { AlertStore } from './alert-store.ts';
import { type Condition, conditionOf } from './conditions.ts';
import { decide, type RuleState } from './decide.ts';
import { type Finding, NOTHING } from './finding.ts';

/** How long another node waits before it evaluates in place of one that says nothing any more; milliseconds. */
const LEASE_MS = 30_000;
const SWEEP_INTERVAL_MS = 10 * 60_000;

export interface EvaluatorParts {
  store: AlertStore;
  /** How long after the start nothing is said about agents, which are coming back; milliseconds. */
  graceMs: number;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** The monotonic clock, in milliseconds. */
  monotonic(): number;
  /** Called when the change of one rule cannot be written. The others go on. */
  onFailure(error: unknown): void;
}

export class Evaluator {
  readonly #parts: EvaluatorParts;
  readonly #startedAt: number;
  #leasedAt: number | undefined;
  #sweptAt: number | undefined;

  constructor(parts: EvaluatorParts) {
    this.#parts = parts;
    this.#startedAt = parts.now();
  }

  /** Evaluates every rule once. It takes one statement for each condition that is in use, and a transaction for each change. */
  async evaluate(): Promise<void> {
    const { store } = this.#parts;
    const { at, rules } = await store.rules();
    if (rules.length === 0 || !(await this.#mayEvaluate())) return;
    await this.#sweep(at);
    const due = rules.filter((rule) => !this.#isInGrace(rule));
    const found = new Map<string, Finding>();
    for (const condition of new Set(due.filter(({ isEnabled }) => isEnabled).map((rule) => rule.condition)))
      for (const [ruleId, finding] of await store.find(condition)) found.set(ruleId, finding);
    for (const rule of due) await this.#evaluateRule(rule, found.get(rule.id) ?? NOTHING, at);
  }

  async #evaluateRule(rule: RuleState, finding: Finding, at: number): Promise<void> {
    const decision = decide(rule, finding, at);
    if (!decision) return;
    await this.#parts.store.apply(rule, finding, decision, at).catch(this.#parts.onFailure);
  }

  /** Agents that were here before come back within the grace; what they serve is missing until then. */
  #isInGrace({ condition }: { condition: Condition }): boolean {
    const { graceMs, now } = this.#parts;
    return conditionOf(condition).dependsOnAgents && now() - this.#startedAt < graceMs;
  }

  /** Renews the lease when half of it is over. */
  async #mayEvaluate(): Promise<boolean> {
    const { store, monotonic } = this.#parts;
    const at = monotonic();
    if (this.#leasedAt !== undefined && at - this.#leasedAt < LEASE_MS / 2) return true;
    this.#leasedAt = (await store.lease(LEASE_MS)) ? at : undefined;
    return this.#leasedAt !== undefined;
  }

  async #sweep(at: number): Promise<void> {
    const { store, monotonic } = this.#parts;
    if (this.#sweptAt !== undefined && monotonic() - this.#sweptAt < SWEEP_INTERVAL_MS) return;
    this.#sweptAt = monotonic();
    await store.sweep(at);
  }
}

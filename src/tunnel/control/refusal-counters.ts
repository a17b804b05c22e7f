// What agents were refused, counted by the reason: for the operator.

import { type AgentErrorName, agentErrors } from './agent-errors.ts';

/** Why connections of the agent listener end before an agent is let in, which nobody is told. */
const connectionRefusals = ['tooManyConnections', 'tlsFailed', 'authenticationTimeout'] as const;

export type RefusalReason = AgentErrorName | (typeof connectionRefusals)[number];

export class RefusalCounters {
  readonly #counts = new Map<RefusalReason, number>(
    [...(Object.keys(agentErrors) as AgentErrorName[]), ...connectionRefusals].map((reason) => [reason, 0]),
  );

  add(reason: RefusalReason): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  /** Every reason there is, as `authtoken_unknown`, and how often it was given since the start. */
  rows(): [reason: string, count: number][] {
    return [...this.#counts].map(([reason, count]) => [
      reason.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      count,
    ]);
  }
}

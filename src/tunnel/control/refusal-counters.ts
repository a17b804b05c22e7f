import { type AgentErrorName, agentErrors } from './agent-errors.ts';

/** The reasons for which the gateway closes a connection before it can send an error. */
const connectionRefusals = ['tooManyConnections', 'tlsFailed', 'authenticationTimeout'] as const;

export type RefusalReason = AgentErrorName | (typeof connectionRefusals)[number];

/** Counts the errors that agents received and the connections that were closed, by reason, for the metrics. */
export class RefusalCounters {
  readonly #counts = new Map<RefusalReason, number>(
    [...(Object.keys(agentErrors) as AgentErrorName[]), ...connectionRefusals].map((reason) => [reason, 0]),
  );

  add(reason: RefusalReason): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
  }

  /** All reasons, in the form `authtoken_unknown`, with their counts since the start. */
  rows(): [reason: string, count: number][] {
    return [...this.#counts].map(([reason, count]) => [
      reason.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      count,
    ]);
  }
}

// What the primary answers at the admin listener. It asks the processes, and where one is away or silent it says what that one said last:
// a probe is never refused, and no counter goes back.

import type { Worker as Child } from 'node:cluster';
import type { Registry } from 'prom-client';
import type { AdminAnswers, Readiness } from '../monitoring/admin-server.ts';
import type { LabelledValue } from '../monitoring/metrics.ts';
import { ProcessMetrics } from '../monitoring/process-metrics.ts';
import { waitAtMost } from '../runtime/wait-at-most.ts';
import { type Children, type ChildrenListener, controlRole, type Slot } from './children.ts';
import type { ChildMessage, PrimaryMessage } from './messages.ts';

/** How long processes have for their metrics, of which some ask the database; milliseconds. Prometheus waits for 10 s by default. */
const METRICS_MS = 3000;
/** The same for readiness: load balancers that look twice a second wait for no longer. */
const READINESS_MS = 300;
/** How long the last answer of a control process that is away counts; milliseconds. Visitors and agents are served meanwhile. */
const READINESS_KEPT_MS = 30_000;

export interface ProcessAnswersOptions {
  children: Children;
  /** The control process that is in charge, if there is one. */
  control(): Slot | undefined;
  /** The metrics of this process. */
  registry: Registry;
}

export class ProcessAnswers implements AdminAnswers, ChildrenListener {
  readonly #options: ProcessAnswersOptions;
  readonly #metrics = new ProcessMetrics<Child>((name) => name === controlRole.name);
  /** Resolve when a process has answered, or has ended. */
  readonly #metricsAsked = new Questions();
  readonly #readinessAsked = new Questions();
  #readiness: { reason: string | null; at: number } | undefined;
  #collectedAt = 0;
  #isStopping = false;

  constructor(options: ProcessAnswersOptions) {
    this.#options = options;
    options.children.follow(this);
  }

  heard({ role, isEnding }: Slot, child: Child, message: ChildMessage): void {
    if (message.type === 'metrics') {
      this.#metrics.told(child, role.name, message.metrics, message.isLast);
      this.#metricsAsked.answered(child);
    }
    if (message.type === 'readiness') {
      // One that hands over says that it stops.
      if (!isEnding) this.#readiness = { reason: message.reason, at: performance.now() };
      this.#readinessAsked.answered(child);
    }
  }

  ended(child: Child): void {
    this.#metrics.ended(child);
    this.#metricsAsked.answered(child);
    this.#readinessAsked.answered(child);
  }

  /** From now on, the gateway is not ready. */
  stop(): void {
    this.#isStopping = true;
  }

  /** How old the values of each process are, in seconds, as of the last collection. */
  ages(): LabelledValue[] {
    return this.#metrics.ages(this.#collectedAt);
  }

  async readiness(): Promise<Readiness> {
    const askedAt = performance.now();
    const slot = this.#options.control();
    if (slot && !slot.isEnding && this.#metrics.has(slot.child))
      await waitAtMost(READINESS_MS, this.#ask(this.#readinessAsked, slot, { type: 'tellReadiness' }));
    if (this.#isStopping) return { reason: 'The gateway is stopping.' };
    if (!this.#readiness) return { reason: 'The gateway is starting.' };
    const { reason, at } = this.#readiness;
    if (at >= askedAt) return { reason };
    const ageMs = performance.now() - at;
    if (reason === null && ageMs > READINESS_KEPT_MS) return { reason: 'The control process does not answer.' };
    return { reason, ageMs };
  }

  async metrics(): Promise<string> {
    this.#collectedAt = performance.now();
    const asked = [...this.#options.children.slots]
      .filter(({ child }) => this.#metrics.has(child))
      .map((slot) => this.#ask(this.#metricsAsked, slot, { type: 'tellMetrics' }));
    await waitAtMost(METRICS_MS, Promise.all(asked));
    return this.#metrics.text(await this.#options.registry.getMetricsAsJSON());
  }

  #ask(questions: Questions, slot: Slot, question: PrimaryMessage): Promise<void> {
    return questions.ask(slot.child, () => this.#options.children.tell(slot, question));
  }
}

/** Questions of one kind, at most one to each process at a time: those who ask meanwhile wait for the same answer. */
class Questions {
  readonly #asked = new Map<Child, { answer: Promise<void>; resolve: () => void }>();

  ask(child: Child, send: () => void): Promise<void> {
    const asked = this.#asked.get(child);
    if (asked) return asked.answer;
    let resolve = () => {};
    const answer = new Promise<void>((done) => {
      resolve = done;
    });
    this.#asked.set(child, { answer, resolve });
    send();
    return answer;
  }

  answered(child: Child): void {
    this.#asked.get(child)?.resolve();
    this.#asked.delete(child);
  }
}

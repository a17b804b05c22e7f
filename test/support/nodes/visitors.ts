// Visitors of several gateways, each request at a node at random, and what they got.

import { Agent } from 'node:http';
import { type Visit, visit } from '../visit.ts';
import type { Agents } from './agents.ts';
import type { Fleet } from './fleet.ts';

/** Of so many visits one is to a tunnel that comes and goes. */
const WANDERING_EVERY = 5;
/** A visitor gives up after so long; milliseconds. */
const PATIENCE_MS = 10_000;
/** The most failures whose text is kept. */
const KEPT_MAX = 2000;

export interface VisitorsLoad {
  /** Visitors at once. */
  count: number;
  /** Between two visits of one, so that others have the machine, too; milliseconds. */
  pauseMs: number;
}

export interface Failure {
  /** Milliseconds of `performance.now()`. */
  at: number;
  name: string;
  node: string;
  why: string;
}

export class Visitors {
  /** All since the begin. */
  requests = 0;
  /** Of tunnels that stay. Those that come and go may be away. */
  failures: Failure[] = [];
  failed = 0;
  /** Answers of another tunnel than the one that was asked. */
  misrouted: Failure[] = [];
  lastFailedAt = Number.NEGATIVE_INFINITY;
  readonly #all: Promise<unknown>;
  #isOver = false;

  constructor(fleet: Fleet, agents: Agents, { count, pauseMs }: VisitorsLoad) {
    this.#all = Promise.all(Array.from({ length: count }, () => this.#come(fleet, agents, pauseMs)));
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#all;
  }

  async #come({ front }: Fleet, agents: Agents, pauseMs: number): Promise<void> {
    const connections = new Agent({ keepAlive: true });
    for (let turn = 0; !this.#isOver; turn++) {
      const wandering = [...agents.wandering];
      const isWandering = turn % WANDERING_EVERY === 0 && wandering.length > 0;
      const name = pickOf(isWandering ? wandering : agents.staying);
      let node = front.pick();
      const ask = () => patiently(visit(`http://${name}/`, node.process().http, { agent: connections }));
      let answer: Visit | string = await ask();
      while (answer === 'ECONNREFUSED') {
        // Nothing was sent: whoever stands in front tries another node.
        node = front.pick();
        answer = await ask();
      }
      this.requests++;
      const outcome = { at: performance.now(), name, node: node.name };
      if (typeof answer === 'object' && answer.status === 200) {
        if (answer.body !== name) this.misrouted.push({ ...outcome, why: answer.body });
      } else if (!isWandering) {
        const why = typeof answer === 'string' ? answer : errorOf(answer);
        this.failed++;
        this.lastFailedAt = outcome.at;
        if (this.failures.length < KEPT_MAX) this.failures.push({ ...outcome, why });
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    connections.destroy();
  }
}

const errorOf = ({ status, body }: Visit) => `${status} ${/ERR_GATEWAY_\d+/.exec(body)?.[0] ?? body}`;

function pickOf(names: readonly string[]): string {
  return names[Math.floor(Math.random() * names.length)] ?? '';
}

/** @returns the answer, or why there is none. */
async function patiently(answer: Promise<Visit>): Promise<Visit | string> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, 'no answer');
  });
  const outcome = answer.catch((error: NodeJS.ErrnoException) => error.code ?? error.message);
  return Promise.race([outcome, deadline]).finally(() => clearTimeout(timer));
}

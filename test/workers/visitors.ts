// Visitors who come for as long as something happens to the gateway, and what they got.

import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { visit } from '../support/visit.ts';

/** Between two visits of one of them in `npm test`: without it, a gateway that waits for something takes all of the machine; milliseconds. */
const PAUSE_MS = process.env.SOAK ? 0 : 25;

export interface Visitors {
  /** How many were answered rightly so far. */
  readonly answered: number;
  /** What the others got, with the name that they asked for. */
  readonly failures: readonly { name: string; why: string; at: number }[];
  /** Resolves when so many more have been answered. */
  more(count: number): Promise<void>;
  /** Ends them, and waits for the last answers. */
  stop(): Promise<void>;
}

/**
 * @param names host names, by the answer that each has to give.
 * @param count of visitors at once. Each has a connection for each visit, or @param isKept keeps one for as long as it lasts.
 */
export function startVisitors(http: string, names: Record<string, string>, count = 8, isKept = false): Visitors {
  const failures: Visitors['failures'][number][] = [];
  const all = Object.entries(names);
  const waiting = new Set<() => void>();
  let answered = 0;
  let isOver = false;
  const come = async (first: number) => {
    const agent = new Agent({ keepAlive: isKept, maxSockets: 1 });
    for (let turn = first; !isOver; turn++) {
      const [answer, name] = all[turn % all.length] as [string, string];
      const failed = (why: string) => failures.push({ name, why, at: performance.now() });
      await visit(`http://${name}/`, http, { agent }).then(
        ({ status, body }) =>
          status === 200 && body === answer ? answered++ : failed(`${status} ${body.slice(0, 200)}`),
        (error) => failed(String(error)),
      );
      for (const look of waiting) look();
      if (PAUSE_MS > 0) await pause(PAUSE_MS);
    }
    agent.destroy();
  };
  const ended = Promise.all(Array.from({ length: count }, (_, index) => come(index)));
  return {
    get answered() {
      return answered;
    },
    failures,
    more(count) {
      const wanted = answered + count;
      return new Promise((resolve) => {
        const look = () => {
          if (answered < wanted) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
      });
    },
    async stop() {
      isOver = true;
      await ended;
    },
  };
}

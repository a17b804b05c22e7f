// An honest visitor of the honest agent, one visit after the other.

import { ANSWER, HONEST_NAME } from '../../support/load/honest-clients.ts';
import type { World } from '../../support/load/honest-world.ts';
import { visit } from '../../support/visit.ts';

const PAUSE_MS = 25;

export interface Visitor {
  /** Of the visits that began since then: how long those took that were answered as they should, in milliseconds. */
  since(from: number): { count: number; failures: number; p95: number; longest: number };
  stop(): Promise<void>;
}

export function startVisitor({ target }: Pick<World, 'target'>): Visitor {
  const visits: { at: number; took: number; isGood: boolean }[] = [];
  let isOver = false;
  const running = (async () => {
    while (!isOver) {
      const at = performance.now();
      const isGood = await visit(`http://${HONEST_NAME}`, target.http).then(
        ({ status, body }) => status === 200 && body === ANSWER,
        () => false,
      );
      visits.push({ at, took: performance.now() - at, isGood });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  return {
    since(from) {
      const recent = visits.filter(({ at }) => at >= from);
      const took = recent.flatMap(({ took, isGood }) => (isGood ? took : [])).sort((a, b) => a - b);
      const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Number.NaN;
      return { count: recent.length, failures: recent.length - took.length, p95: at(0.95), longest: at(1) };
    },
    async stop() {
      isOver = true;
      await running;
    },
  };
}

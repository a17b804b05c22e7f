// When something on screen is asked again: after changes (gathered), after a gap, and by the clock while it is seen.

import { type News, onChange } from './change-feed.ts';

/** Changes that come together are asked for together. */
const GATHER_MS = 300;

/** While change follows change, what is on screen is asked no oftener than this. */
const PAUSE_MS = 1000;

export interface Occasions {
  /** The kinds of objects whose changes concern what is shown. */
  kinds?: readonly string[];
  /** How often to ask although nothing is known to have changed, while the page is visible. */
  everyMs?: number;
}

/**
 * Calls `ask` on every occasion, never twice at a time. `hear` is told of news before that.
 * @returns what asks at once, and what ends it.
 */
export function refresh(
  { kinds = [], everyMs }: Occasions,
  ask: () => Promise<void>,
  hear: (news: News) => void = () => {},
): { now: () => Promise<void>; soon: () => void; end: () => void } {
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let asking: Promise<void> | undefined;
  let isAskedAgain = false;
  let askedAt = 0;
  let isOver = false;

  const unwatch =
    kinds.length > 0
      ? onChange(kinds, (news) => {
          hear(news);
          soon();
        })
      : () => {};
  const clock = everyMs === undefined ? undefined : setInterval(() => document.hidden || void now(), everyMs);

  function soon(): void {
    const pause = askedAt + PAUSE_MS - performance.now();
    gathering ??= setTimeout(() => void now(), Math.max(GATHER_MS, pause));
  }

  async function now(): Promise<void> {
    clearTimeout(gathering);
    gathering = undefined;
    if (asking) {
      isAskedAgain = true;
      return asking;
    }
    askedAt = performance.now();
    asking = ask();
    await asking;
    asking = undefined;
    if (isAskedAgain && !isOver) soon();
    isAskedAgain = false;
  }

  function end(): void {
    isOver = true;
    unwatch();
    clearTimeout(gathering);
    clearInterval(clock);
  }

  return { now, soon, end };
}

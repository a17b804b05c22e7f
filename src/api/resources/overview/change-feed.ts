// Changes of many kinds in one stream, gathered: whoever watches everything is told a few times a second, however much
// goes on.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Change, Changes } from '../../../store/changes/changes.ts';

const GATHERING_MS = 250;
/** Beyond so many objects, whoever listens had better ask for the lists again. */
const GATHERED_MAX = 1000;

/** Of an object; without an id, of so many of its kind that they are not told one by one. */
export type GatheredChange = Pick<Change, 'kind' | 'action' | 'id'>;

/** Waits; ends early, without failing, when the signal is aborted. */
export type AbortablePause = (ms: number, signal: AbortSignal) => Promise<unknown>;

const pauseFor: AbortablePause = (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined);

/** How a feed goes on where another was cut off. */
export interface Resumption {
  /** What happened in between, asked for once it listens; undefined where that is not known, or it begins anew. */
  missed(): readonly Change[] | undefined;
  /** Called before each list is told: the feed has told all that was heard until now. */
  told(): void;
}

export interface ChangeFeedOptions {
  pause?: AbortablePause | undefined;
  /** Left out: it begins anew. */
  resumption?: Resumption | undefined;
}

/**
 * Tells of an account's changes: an empty list as soon as it listens, unless it goes on where another was; and then, a quarter of a second after a first
 * change, all that there were by then, each object once with what happened to it last. Ends when `signal` is aborted or
 * the reader returns.
 * @param kinds those to tell of.
 */
export async function* changeFeed(
  changes: Changes,
  accountId: string,
  kinds: ReadonlySet<string>,
  signal: AbortSignal,
  { pause = pauseFor, resumption }: ChangeFeedOptions = {},
): AsyncGenerator<GatheredChange[]> {
  let gathered = new Map<string, GatheredChange>();
  let wake = () => {};
  const gather = ({ kind, action, id }: GatheredChange) => {
    if (gathered.has(`${kind}:`)) return;
    const key = `${kind}:${id}`;
    gathered.delete(key); // What happened last is told last.
    gathered.set(key, { kind, action, id });
    if (gathered.size > GATHERED_MAX) summarize(new Set([...gathered.values()].map((change) => change.kind)));
    wake();
  };
  const summarize = (these: ReadonlySet<string>) => {
    gathered = new Map([...these].map((kind) => [`${kind}:`, { kind, action: 'UPDATED', id: '' }]));
  };
  const stops = [
    changes.listen((change) => {
      if (change.accountId === accountId && kinds.has(change.kind)) gather(change);
    }),
    changes.onGap(() => {
      summarize(kinds);
      wake();
    }),
  ];
  const told = (all: GatheredChange[]) => {
    resumption?.told();
    return all;
  };
  const missed = resumption?.missed()?.filter(({ kind }) => kinds.has(kind));
  const aborted = () => wake();
  signal.addEventListener('abort', aborted);
  try {
    if (missed) for (const change of missed) gather(change);
    else yield told([]);
    while (!signal.aborted) {
      if (gathered.size === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      await pause(GATHERING_MS, signal);
      if (signal.aborted) return;
      const all = [...gathered.values()];
      gathered = new Map();
      yield told(all);
    }
  } finally {
    for (const stop of stops) stop();
    signal.removeEventListener('abort', aborted);
  }
}

// Keeps the captures of a node as they are stored.

import { ReloadQueue } from '../edge/edges/reload-queue.ts';
import type { Captures } from './captures.ts';
import type { CaptureSource } from './stored-capture.ts';

/** The following of stored captures. */
export interface CaptureFollower {
  /** Loads captures again. It resolves when this node has them as they are stored. @param ids null for all. */
  reload(ids: readonly string[] | null): Promise<void>;
  /** Ends it. The captures that are on stay so. */
  close(): void;
}

/**
 * Loads the captures that are on, and follows their changes. It resolves when they are loaded.
 * @param onFailure called when they cannot be loaded, which is tried again until it works.
 */
export async function followCaptures(
  captures: Pick<Captures, 'apply'>,
  source: CaptureSource,
  onFailure: (error: unknown) => void,
): Promise<CaptureFollower> {
  const reloads = new ReloadQueue({
    work: async (ids) => captures.apply(ids, await source.load(ids)),
    onFailure,
  });
  const stop = source.onChange((ids) => reloads.ask(ids));
  await reloads.ask(null);
  return {
    reload: (ids) => reloads.ask(ids),
    close() {
      stop();
      reloads.close();
    },
  };
}

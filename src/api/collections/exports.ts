// Where lists are downloaded.

import type { Collection } from './collection.ts';

/** The path of the download of a list. */
export function exportPathOf({ path }: Pick<Collection, 'path'>): string {
  return `/export${path}`;
}

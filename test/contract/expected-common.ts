// What the answers about most kinds of object have in common.

import { expect } from 'vitest';
import type { World } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
export type Json = any;

export const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
export const idOf = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9A-Za-z]{27}$`));

/** The secret that goes with an id: it begins with the same KSUID. */
export const tokenOf = (id: unknown) => expect.stringMatching(new RegExp(`^${String(id).split('_')[1]}_\\w{22,}$`));

export const list = (world: World, key: string, path: string, objects: Json[], next: string | null = null) => ({
  [key]: objects,
  uri: world.uri(path),
  next_page_uri: next,
});

export const refTo = (world: World, path: string, id: string) => ({ id, uri: world.uri(`${path}/${id}`) });

/** What most objects have: the uri is that of the id that was answered. */
export const common = (world: World, prefix: string, path: string, got: Json) => ({
  id: idOf(prefix),
  uri: world.uri(`${path}/${got?.id}`),
  created_at: time,
  description: '',
  metadata: '',
});

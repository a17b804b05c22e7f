// What can be done with each list of the API. It does not change while somebody is signed in.

import { signal } from '@preact/signals';
import { ListKinds, type ListKindsQuery } from '../../generated/operations.ts';
import { execute } from '../client/client.ts';

/** A list of the API: its members, its export, and what may be done with many of its objects. */
export type ListKind = NonNullable<ListKindsQuery['listKinds']>[number];

const kinds = signal<readonly ListKind[]>([]);
let loading: Promise<void> | undefined;

/** The list of this name, as `credentials`; undefined until it is known. Loads it at the first call. */
export function listKind(name: string): ListKind | undefined {
  // Without it, lists are shown as they are, and it is asked for again with the next one.
  if (!loading) {
    loading = load().catch(() => {
      loading = undefined;
    });
  }
  return kinds.value.find((kind) => kind.name === name);
}

/** Forgets what the session that ended might do. */
export function clearListKinds(): void {
  loading = undefined;
  kinds.value = [];
}

async function load(): Promise<void> {
  kinds.value = (await execute(ListKinds, {})).listKinds ?? [];
}

// What a bulk change is about.

import type { ApiFailure } from '../../../data/client/client.ts';
import type { ListKind } from '../../../data/lists/list-kinds.ts';
import type { StartBulkJobMutationVariables } from '../../../generated/operations.ts';

export type BulkAction = ListKind['bulkActions'][number];

export interface BulkTarget {
  /** The name of the list: `credentials`. */
  list: string;
  /** How many objects there are, as the user was told. */
  count: number;
  /** The objects by id, or all that the filter and the search leave. */
  objects: { ids?: string[]; filter?: string; search?: string };
}

/** What the form of an action adds to a job. */
export type ActionInput = Partial<
  Pick<StartBulkJobMutationVariables['input'], 'ownerId' | 'setLabels' | 'removeLabels'>
>;

/** The props of such a form. */
export interface ActionFormProps {
  error: ApiFailure | undefined;
  isBusy: boolean;
  onSubmit: (input: ActionInput) => void;
  onClose: () => void;
}

/** The rows that a list's own actions are about. */
export interface SelectedRows {
  count: number;
  /** The rows that are loaded. */
  ids: readonly string[];
  /** Whether all that match are meant, also those that are not loaded. */
  isEverything: boolean;
}

/** `1 credential`, `12 credentials` */
export function countNouns(count: number, [one, many]: readonly [string, string]): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** A key by which the API tells a repeated request from a new one. It is not secret. */
export function newIdempotencyKey(): string {
  // crypto.randomUUID() is missing where the dashboard is opened without TLS.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

// What can be done to many objects of a list at once. Each kind of object says so where its mutations are.

import { builder } from '../builder/builder.ts';
import type { Caller } from '../caller.ts';
import type { Context } from '../context.ts';
import type { ErrorName } from '../errors/errors.ts';

export const BulkActionType = builder.enumType('BulkAction', {
  description: 'What can be done to many objects of a list at once.',
  values: {
    DELETE: { description: 'To delete them, as the mutation that deletes one does.' },
    CHANGE_OWNER: { description: 'To give them to another user or bot user. Only admins may.' },
    CHANGE_LABELS: { description: 'To set some of their labels and to take some away; the others stay.' },
  } as const,
});

export type BulkAction = typeof BulkActionType.$inferType;

/** What a job is to do with each object. */
export interface BulkParameters {
  ownerId: string | null;
  setLabels: Record<string, string>;
  removeLabels: readonly string[];
}

/** How one action is done to one object, by the code of the mutation of one. */
export interface BulkOperation {
  /** Only admins may; others get this error. */
  adminsOnly?: ErrorName;
  /**
   * Does it to one object, with the checks, the audit and the events of the mutation.
   * @returns what the object had before, for an undo; null when it was like that already; undefined when there is no undo.
   * @throws {ApiError} when it is refused.
   */
  apply(context: Context, id: string, parameters: BulkParameters): Promise<unknown>;
  /**
   * Sets back what a job changed. Left out: it cannot be undone.
   * @param before what `apply` returned.
   * @param parameters those of the job that is undone.
   * @returns false when somebody has changed it since, so that nothing was done.
   */
  undo?(context: Context, id: string, before: unknown, parameters: BulkParameters): Promise<boolean>;
}

type Operations = Partial<Record<BulkAction, BulkOperation>>;

const operationsByKind = new Map<string, Operations>();

/** Lets an action be done to many objects of a kind. */
export function bulkOperation(kind: string, action: BulkAction, operation: BulkOperation): void {
  operationsByKind.set(kind, { ...operationsByKind.get(kind), [action]: operation });
}

export function bulkOperationOf(kind: string, action: BulkAction): BulkOperation | undefined {
  return operationsByKind.get(kind)?.[action];
}

/** What the caller may do with objects of a kind. Single ones may still be refused. */
export function bulkActionsFor({ isAdmin }: Caller, kind: string): BulkAction[] {
  const operations = Object.entries(operationsByKind.get(kind) ?? {}) as [BulkAction, BulkOperation][];
  return operations.filter(([, { adminsOnly }]) => isAdmin || !adminsOnly).map(([action]) => action);
}

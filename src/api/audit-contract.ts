// What each write and each act owes the audit trail. `Context` is the type of an operation's context, which brings the trail along.

import type { AuditAction } from '../store/audit/audit-actions.ts';
import type { AuditAct } from '../store/audit/audit-entries.ts';
import type { Announce } from '../store/changes/changes.ts';
import type { SigningIn } from './caller.ts';
import type { AuditedResource } from './resource.ts';

/** What is deleted along with an object, and told of before it. */
export interface CascadeOf<Context> {
  resource: AuditedResource;
  /** As REST shows them. @param object what REST shows of the object that takes them along. */
  objects(context: Context, object: object): Promise<object[]> | object[];
}

/** What is written, to be told. */
export interface AuditedWrite {
  resource: AuditedResource;
  id: string;
}

/** A row of an object. */
export interface WrittenRow {
  id: string;
}

/** What was done, by its caller where no other actor is given. */
export type RecordedAct = Omit<AuditAct, 'objectName'> & { objectName?: string; actor?: SigningIn };

/**
 * Events of what is written, and entries of who did what. The contexts are in the transactions of the writes, at the end of which all is
 * written.
 */
export interface AuditTrailOf<Context> {
  /** @param created with its row, where that is known: it is read again otherwise. */
  recordCreation(
    context: Context,
    announce: Announce,
    created: AuditedWrite & { row?: WrittenRow | undefined },
  ): Promise<void>;
  /**
   * To be called before an object is changed, which may not exist.
   * @param updated with the action that the entry names, if it is no mere change: then there is one in any case.
   * @returns what records events and entries; to be called after it, with the row, where that is known.
   */
  prepareUpdate(
    context: Context,
    announce: Announce,
    updated: AuditedWrite & { action?: AuditAction },
  ): Promise<(row?: WrittenRow) => Promise<void>>;
  /** The same before an object is deleted. */
  prepareDeletion(
    context: Context,
    announce: Announce,
    deleted: AuditedWrite & { cascade: CascadeOf<Context> | undefined },
  ): Promise<() => void>;
  /** Records what is no write of a resource. No event tells of it. */
  record(context: Context, announce: Announce, ...acts: RecordedAct[]): void;
  /**
   * Records what strangers can do: a few times a minute, and nobody waits for it, so that nothing is to be learnt from
   * how long it takes.
   * @param key what the times are counted of.
   */
  recordSparingly(context: Context, key: string, act: RecordedAct): void;
}

// What a kind of object declares about itself, so that events, errors and the search need no lists of their own.

import type { EventName, EventObject, ObjectAction } from '../events/types.ts';
import type { WriteAction } from '../store/changes/changes.ts';
import type { ErrorName } from './errors/errors.ts';

/** A kind of object whose writes are audited: each creation, change and deletion is an event. */
export interface AuditedResource {
  /** The kind, as its look-up in GraphQL is called: `credential`. */
  kind: string;
  /** How event types and their descriptions call it. */
  audit: EventObject & {
    /** What events show of it, as a GraphQL selection; what `GET` by its id shows when left out. */
    selection?: string;
  };
  /** The errors that stand for the database's refusals; general ones when left out. */
  conflicts?: {
    /** A unique index refuses a write. */
    taken?: ErrorName;
    /** A foreign key refuses the deletion. */
    inUse?: ErrorName;
  };
}

/**
 * Where the search finds objects of one kind, and so do lists of them in other objects. All but `rank` is SQL, in which `t` is the table.
 */
export interface SearchColumns {
  /** Objects of a lower rank are shown first. Each kind has a rank of its own. */
  rank: number;
  table: string;
  title: string;
  detail: string;
  /** What is searched. */
  texts: string[];
  /** What is joined to the table. */
  join?: string;
  /** Which rows of the account count, as the `where` of the kind says it for Prisma; all when left out. */
  where?: string;
}

/** The two columns that most tables have for notes of their owners. */
export const NOTE_COLUMNS = ['t.description', 't.metadata'];

/** The search of a kind that is known by its description alone. */
export const searchByNotes = (rank: number, table: string): SearchColumns => ({
  ...{ rank, table, title: 't.description', detail: 't.metadata' },
  texts: NOTE_COLUMNS,
});

/** The event that records a change: `domain_created.v0`. */
export function eventNameOf({ audit }: AuditedResource, action: WriteAction): EventName {
  return `${audit.name}_${action.toLowerCase() as ObjectAction}.v0`;
}

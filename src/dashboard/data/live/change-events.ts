// The events of the change feed.

export interface ChangedObject {
  /** The kind of object, named like its query field: `credential`. */
  kind: string;
  action: 'CREATED' | 'UPDATED' | 'DELETED';
  /** The id; empty if so many objects of the kind changed that all of them have to be loaded again. */
  objectId: string;
}

/** The changes of the requested kinds; `'gap'` if changes may have been missed. */
export type ChangeEvents = readonly ChangedObject[] | 'gap';

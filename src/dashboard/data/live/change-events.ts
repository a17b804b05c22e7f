// What is told of changes.

export interface ChangedObject {
  /** The kind of object, as its look-up in GraphQL is called: `credential`. */
  kind: string;
  action: 'CREATED' | 'UPDATED' | 'DELETED';
  /** Empty: so many of the kind changed that all of them are to be asked again. */
  id: string;
}

/** What changed of the kinds that were asked for; `'gap'` when changes may have been missed. */
export type ChangeEvents = readonly ChangedObject[] | 'gap';

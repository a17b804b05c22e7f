// What the database says of one rule at one moment.

/** The most subjects that an alert names. It counts all of them. */
export const SUBJECTS_MAX = 20;

/** One of those that a rule is about: an endpoint, a certificate, an event destination. */
export interface AffectedObject {
  id: string;
  /** As people know it: the URL of an endpoint, the names of a certificate. */
  name: string;
  /** Since when; RFC 3339. */
  since: string;
  /** Why, or until when; one line. */
  detail: string;
}

export interface Finding {
  /** How many subjects there are, without those that are silenced. */
  count: number;
  /** How many more there are that are silenced. */
  silenced: number;
  /** What the condition compares: the share, the highest number; 0 where it compares none. */
  value: number;
  /** Since when there is one; milliseconds. Null when there is none. */
  since: number | null;
  /** The first ones, those that are affected for the longest time first. */
  subjects: AffectedObject[];
}

/** Of a rule for which the database has nothing. */
export const NOTHING: Finding = { count: 0, silenced: 0, value: 0, since: null, subjects: [] };

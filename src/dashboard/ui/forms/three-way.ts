// What a form does when the object that it edits changes meanwhile: a merge of three versions, field by field.

/** A field that somebody else has changed. */
export interface FieldChange {
  name: string;
  /** The value that the field had before. */
  before: unknown;
  /** The value in the form. */
  mine: unknown;
  theirs: unknown;
}

export interface Versions<Values> {
  /** The values that both changes began with. */
  base: Values;
  /** The values in the form. */
  mine: Values;
  /** Fields of somebody else's change that were taken over, because the user had not changed them. */
  taken: readonly FieldChange[];
}

/**
 * Takes over what somebody else changed and the user did not. The rest are conflicts, which only the user can decide.
 * @param theirs the values that the object has now
 */
export function takeOver<Values extends object>(versions: Versions<Values>, theirs: Values): Versions<Values> {
  const names = Object.keys(theirs) as (keyof Values & string)[];
  const moved = names.filter((name) => isMoved(versions, theirs, name));
  if (moved.length === 0) return versions;
  const isEdited = isDifferent(versions.base, versions.mine);
  const base = { ...versions.base };
  const mine = { ...versions.mine };
  let { taken } = versions;
  for (const name of moved) {
    const change = { name, before: base[name], mine: mine[name], theirs: theirs[name] };
    // Nobody has to be told of a change to a form that is only looked at.
    if (isEdited && !isSame(mine[name], theirs[name]))
      taken = [...taken.filter((other) => other.name !== name), change];
    base[name] = theirs[name];
    mine[name] = theirs[name];
  }
  return { base, mine, taken };
}

/** The fields that both have changed, to different values. */
export function conflictsIn<Values extends object>({ base, mine }: Versions<Values>, theirs: Values): FieldChange[] {
  const names = Object.keys(theirs) as (keyof Values & string)[];
  return names
    .filter((name) => ![base[name], mine[name]].some((value) => isSame(value, theirs[name])))
    .map((name) => ({ name, before: base[name], mine: mine[name], theirs: theirs[name] }));
}

/** Whether a value of one version differs from that of another. */
export function isDifferent<Values extends object>(some: Partial<Values>, others: Values): boolean {
  return (Object.keys(some) as (keyof Values)[]).some((name) => !isSame(some[name], others[name]));
}

export function isSame(value: unknown, other: unknown): boolean {
  return Object.is(value, other) || JSON.stringify(value) === JSON.stringify(other);
}

/** Whether somebody else changed a field that the user did not change, or changed to the same value. */
function isMoved<Values extends object>({ base, mine }: Versions<Values>, theirs: Values, name: keyof Values): boolean {
  if (isSame(base[name], theirs[name])) return false;
  return isSame(mine[name], base[name]) || isSame(mine[name], theirs[name]);
}

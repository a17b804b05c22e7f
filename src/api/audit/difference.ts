// What an entry of the audit trail says of an object: its name, and which of its members changed.

type Members = Record<string, unknown>;

/** What names an object for people, the first of these that it has. */
const NAMES = ['name', 'domain', 'addr', 'email', 'match', 'cidr', 'subject_common_name', 'hostports', 'description'];

/** How people call an object, from what REST shows of it; '' when it has no name. */
export function nameOf(object: object): string {
  for (const name of NAMES) {
    const value = (object as Members)[name];
    const text = Array.isArray(value) ? value.join(', ') : value;
    if (typeof text === 'string' && text !== '') return text;
  }
  return '';
}

/** The members that differ, with what they were and are; null when none does. Both are objects as REST shows them. */
export function differenceOf(before: object, after: object): { before: Members; after: Members } | null {
  const [old, current] = [before as Members, after as Members];
  const changed = [...new Set([...Object.keys(old), ...Object.keys(current)])].filter(
    (name) => JSON.stringify(old[name]) !== JSON.stringify(current[name]),
  );
  if (changed.length === 0) return null;
  const pick = (from: Members) => Object.fromEntries(changed.map((name) => [name, from[name] ?? null]));
  return { before: pick(old), after: pick(current) };
}

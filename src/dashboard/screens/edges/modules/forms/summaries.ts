/** A summary of lists by verb: `adds x-site, x-country; removes server`. Empty lists are left out. */
export function changesInWords(lists: Record<string, readonly string[]>): string {
  const changes = Object.entries(lists).filter(([, names]) => names.length > 0);
  return changes.map(([verb, names]) => `${verb} ${names.join(', ')}`).join('; ') || 'changes nothing';
}

// Relations between DNS names in lower case.

/** Whether a name is the apex of a zone or lies below it. */
export function isWithin(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}

/** The parent names of a name, the nearest first. */
export function namesAbove(name: string): string[] {
  const labels = name.split('.');
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'));
}

/** The names that can serve a name: itself, and the wildcards above it, the nearest first. */
export function namesServing(name: string): string[] {
  return [name, ...namesAbove(name).map((above) => `*.${above}`)];
}

/** A name without the `*.` of a wildcard. */
export function withoutWildcard(name: string): string {
  return name.startsWith('*.') ? name.slice(2) : name;
}

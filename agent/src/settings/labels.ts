// Labels, by which edges choose the tunnels that serve them.

/** Values by their keys. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Reads texts of the form `key=value`, at least one; a value may hold further equals signs. How many there may be, and
 * how long, is the gateway's to say.
 * @throws {Error} that says what would be right.
 */
export function readLabels(texts: readonly string[]): Labels {
  if (texts.length === 0) throw new Error('needs at least one label, as in: --label app=shop');
  const labels = new Map<string, string>();
  for (const text of texts) {
    const [, key, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
    if (key === undefined || value === undefined) throw new Error(`has "${text}" for a label: use KEY=VALUE`);
    if (labels.has(key)) throw new Error(`has two labels "${key}": a key has one value`);
    labels.set(key, value);
  }
  return Object.fromEntries(labels);
}

/** As people read them: `app=shop, site=berlin`. */
export function writeLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

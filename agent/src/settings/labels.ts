// Labels, by which edges select their tunnels.

import type { Labels } from '../gateway-client.ts';

/**
 * Parses texts of the form `key=value`, at least one. A value may contain further equals signs. Only the gateway limits the
 * number and the length of labels.
 * @throws {Error} the expected form.
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

/** Formats labels for people: `app=shop, site=berlin`. */
export function writeLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

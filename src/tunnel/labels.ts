// Which labelled tunnels a tunnel group takes in.

export type Labels = Readonly<Record<string, string>>;

/** Whether `labels` has every pair of the selector; it may have more. Keys and values are compared exactly. */
export function matches(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

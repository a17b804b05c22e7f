// The weights of what a client accepts: `Accept`, `Accept-Encoding` and their like (RFC 9110, section 12.4.2).

/**
 * What a header lists, in lower case, with the weight of each entry.
 * @returns weights from 0 to 1; 1 where none is given, 0 where it cannot be read. The last of two equal entries counts.
 */
export function qualityValues(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const item of header.split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    if (name) weights.set(name, weightOf(parameters));
  }
  return weights;
}

function weightOf(parameters: readonly string[]): number {
  const text = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (text === undefined) return 1;
  const [, weight] = /^q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(text) ?? [];
  return Number(weight ?? 0);
}

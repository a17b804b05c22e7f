// Values that nobody is shown, whoever asks: they are kept for replays alone.

import type { FieldPairs, RequestCapture } from './captured-request.ts';

/** Fields whose values are secrets wherever they are. In lower case. */
export const ALWAYS_REDACTED: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
];

export interface ShownField {
  name: string;
  /** '' when it is redacted. */
  value: string;
  isRedacted: boolean;
}

/** @param names in any case, on top of those that always are. */
export function redactedNames(names: readonly string[]): ReadonlySet<string> {
  return new Set([...ALWAYS_REDACTED, ...names.map((name) => name.toLowerCase())]);
}

/** Fields as they may be shown. */
export function redactedFields(fields: FieldPairs, redacted: RequestCapture['redacted']): ShownField[] {
  return fields.map(([name, value]) => {
    const isRedacted = redacted.has(name.toLowerCase());
    return { name, value: isRedacted ? '' : value, isRedacted };
  });
}

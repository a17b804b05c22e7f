// Redacted header fields: their values are never shown and are kept only for replays.

import type { FieldPairs, RequestCapture } from './captured-request.ts';

/** The names, in lower case, of the fields that are always redacted. */
export const ALWAYS_REDACTED: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
];

/** A header field as it may be shown. */
export interface ShownField {
  name: string;
  /** The value; '' when it is redacted. */
  value: string;
  isRedacted: boolean;
}

/** The names of all redacted fields. @param names further names, in any case. */
export function redactedNames(names: readonly string[]): ReadonlySet<string> {
  return new Set([...ALWAYS_REDACTED, ...names.map((name) => name.toLowerCase())]);
}

/** The fields without the values of the redacted ones. */
export function redactedFields(fields: FieldPairs, redacted: RequestCapture['redacted']): ShownField[] {
  return fields.map(([name, value]) => {
    const isRedacted = redacted.has(name.toLowerCase());
    return { name, value: isRedacted ? '' : value, isRedacted };
  });
}

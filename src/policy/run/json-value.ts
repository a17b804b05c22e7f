// Converts CEL values to JSON, for logs, keys of rate limits and dry runs.

import { isCelList, isCelMap, isCelUint } from '@bufbuild/cel';
import { isMessage, toJson } from '@bufbuild/protobuf';
import { isReflectMessage } from '@bufbuild/protobuf/reflect';
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';

/**
 * Converts a value to JSON types: integers beyond the safe range become strings, bytes Base64, timestamps RFC 3339,
 * durations seconds as in `1.5s`.
 */
export function toJsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isCelUint(value)) return toJsonValue(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value) || isCelList(value)) return Array.from(value as Iterable<unknown>, toJsonValue);
  if (value instanceof Map || isCelMap(value)) return plainMap(value.entries() as Iterable<[unknown, unknown]>);
  if (isReflectMessage(value)) return toJsonValue(value.message);
  if (isMessage(value, TimestampSchema)) return toJson(TimestampSchema, value);
  if (isMessage(value, DurationSchema)) return toJson(DurationSchema, value);
  return plainMap(Object.entries(value));
}

function plainMap(entries: Iterable<[unknown, unknown]>): Record<string, unknown> {
  return Object.fromEntries(Array.from(entries, ([key, value]) => [String(toJsonValue(key)), toJsonValue(value)]));
}

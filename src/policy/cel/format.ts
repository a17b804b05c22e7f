// Converts values to texts, for templates and as JSON, and JSON to values.

import { type CelInput, type CelValue, isCelList, isCelMap, isCelType, isCelUint } from '@bufbuild/cel';
import { toJson } from '@bufbuild/protobuf';
import { isReflectMessage } from '@bufbuild/protobuf/reflect';
import { growText, spend } from './cost-budget.ts';
import { CelFailure } from './errors.ts';

/** The largest nesting depth of JSON. */
const DEPTH_MAX = 100;

/**
 * Formats a value for a template: a text unchanged, numbers in decimal, timestamps in RFC 3339, bytes in Base64, lists
 * and maps as JSON.
 */
export function formatValue(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  const json = formatJson(value);
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** Formats a value as JSON, with the keys of maps in their order. @throws {CelFailure} for NaN and infinite numbers. */
export function formatJson(value: CelValue): string {
  const written = write(value);
  growText(written.length);
  return written;
}

function write(value: CelValue, depth = 0): string {
  if (depth > DEPTH_MAX) throw new CelFailure(`is nested deeper than ${DEPTH_MAX} levels`);
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new CelFailure(`JSON has no ${value}`);
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Uint8Array) return `"${Buffer.from(value).toString('base64')}"`;
  if (isCelUint(value)) return String(value.value);
  if (isCelList(value)) {
    const elements: string[] = [];
    let length = 0;
    for (const element of value) length = add(elements, write(element, depth + 1), length);
    return `[${elements.join(',')}]`;
  }
  if (isCelMap(value)) {
    const members: string[] = [];
    let length = 0;
    for (const [key, member] of value)
      length = add(
        members,
        `${JSON.stringify(String(isCelUint(key) ? key.value : key))}:${write(member, depth + 1)}`,
        length,
      );
    return `{${members.join(',')}}`;
  }
  if (isReflectMessage(value)) return JSON.stringify(toJson(value.desc, value.message));
  return isCelType(value) ? JSON.stringify(value.name) : JSON.stringify(String(value));
}

/** Checks the length after each part, as one list may be in a value many times. */
function add(parts: string[], part: string, length: number): number {
  spend(1);
  parts.push(part);
  const longer = length + part.length + 1;
  if (longer > 1_000) growText(longer);
  return longer;
}

/** Parses JSON. Numbers are doubles, as CEL specifies. @throws {Error} when the text is not JSON. */
export function fromJson(text: string): CelInput {
  growText(text.length);
  let value: unknown;
  try {
    value = JSON.parse(text, (_, inner) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? new Map(Object.entries(inner)) : inner,
    );
  } catch {
    throw new CelFailure('is not JSON');
  }
  return value as CelInput;
}

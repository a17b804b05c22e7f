// Values as texts: in templates, as JSON, and of JSON.

import { type CelInput, type CelValue, isCelList, isCelMap, isCelType, isCelUint } from '@bufbuild/cel';
import { toJson } from '@bufbuild/protobuf';
import { isReflectMessage } from '@bufbuild/protobuf/reflect';
import { growText, spend } from './cost-budget.ts';
import { CelFailure } from './errors.ts';

/** Lists in lists, in JSON. */
const DEPTH_MAX = 100;

/**
 * A value as it is put into a template: a text as it is, numbers in decimal, timestamps as RFC 3339 has them, bytes in
 * base64, lists and maps as JSON.
 */
export function formatValue(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  const json = formatJson(value);
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** A value as JSON, the keys of maps in their order. Throws a `CelFailure` for numbers that JSON does not have. */
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

/** Stops as soon as it is too long: the same list may be in a value many times. */
function add(parts: string[], part: string, length: number): number {
  spend(1);
  parts.push(part);
  const longer = length + part.length + 1;
  if (longer > 1_000) growText(longer);
  return longer;
}

/** A value of JSON. Numbers are doubles, as CEL has it for JSON. Throws an `Error` when it is none. */
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

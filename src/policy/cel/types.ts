// The types of CEL, as far as they are known before anything is evaluated; `dyn` is what is not known.

import { CelScalar, type CelType, listType, mapType, objectType } from '@bufbuild/cel';
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';

export const { BOOL, BYTES, DOUBLE, DYN, INT, NULL, STRING, TYPE, UINT } = CelScalar;
export const TIMESTAMP = objectType(TimestampSchema);
export const DURATION = objectType(DurationSchema);
export const LIST = listType(DYN);
export const MAP = mapType(DYN, DYN);

export const isDyn = (type: CelType) => type === DYN;
const isNumber = (type: CelType) => type === INT || type === UINT || type === DOUBLE;

/** Whether a value of the type may be given where `wanted` is asked for. What lists and maps hold is looked at when it is used. */
export function fits(type: CelType, wanted: CelType): boolean {
  return isDyn(type) || isDyn(wanted) || (type.kind === wanted.kind && type.name === wanted.name);
}

/** Whether values of these types can be equal. */
export function canEqual(left: CelType, right: CelType): boolean {
  if (left === NULL || right === NULL) return true;
  return fits(left, right) || (isNumber(left) && isNumber(right));
}

/** What is known of a value that has one of these types. */
export function common(types: readonly CelType[]): CelType {
  const [first, ...others] = types;
  if (!first) return DYN;
  if (others.every((type) => String(type) === String(first))) return first;
  if (types.every((type) => type.kind === 'list')) return LIST;
  if (types.every((type) => type.kind === 'map')) return MAP;
  return DYN;
}

/** What a loop over a value goes through: the elements of lists, the keys of maps; undefined when it is neither. */
export function elementOf(type: CelType): CelType | undefined {
  if (type.kind === 'list') return type.element;
  if (type.kind === 'map') return type.key;
  return isDyn(type) ? DYN : undefined;
}

/** The name of a type, as people write it. */
export function typeName(type: CelType): string {
  return String(type)
    .replace(/google\.protobuf\.(Timestamp|Duration)/g, (_, name: string) => name.toLowerCase())
    .replace('null_type', 'null');
}

/** A value of a type, in a sentence: `an int`. */
export function describeType(type: CelType): string {
  const name = typeName(type);
  return name === 'null' ? name : `${/^[aeiou](?!int)/.test(name) ? 'an' : 'a'} ${name}`;
}

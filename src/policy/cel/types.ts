// The static types of CEL. `dyn` stands for a type that is unknown before the evaluation.

import { CelScalar, type CelType, listType, mapType, objectType } from '@bufbuild/cel';
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';

export const { BOOL, BYTES, DOUBLE, DYN, INT, NULL, STRING, TYPE, UINT } = CelScalar;
export const TIMESTAMP = objectType(TimestampSchema);
export const DURATION = objectType(DurationSchema);
export const LIST = listType(DYN);
export const MAP = mapType(DYN, DYN);

export const isDyn = (type: CelType) => type === DYN;
const isNumber = (type: CelType) => type === INT || type === UINT || type === DOUBLE;

/** Whether a type is assignable to another. The element types of lists and maps are only checked at runtime. */
export function fits(type: CelType, wanted: CelType): boolean {
  return isDyn(type) || isDyn(wanted) || (type.kind === wanted.kind && type.name === wanted.name);
}

/** Whether values of these types can be equal. */
export function canEqual(left: CelType, right: CelType): boolean {
  if (left === NULL || right === NULL) return true;
  return fits(left, right) || (isNumber(left) && isNumber(right));
}

/** The type of a value that has one of these types. */
export function common(types: readonly CelType[]): CelType {
  const [first, ...others] = types;
  if (!first) return DYN;
  if (others.every((type) => String(type) === String(first))) return first;
  if (types.every((type) => type.kind === 'list')) return LIST;
  if (types.every((type) => type.kind === 'map')) return MAP;
  return DYN;
}

/** The type over which a loop iterates: elements of a list or keys of a map; undefined for other types. */
export function elementOf(type: CelType): CelType | undefined {
  if (type.kind === 'list') return type.element;
  if (type.kind === 'map') return type.key;
  return isDyn(type) ? DYN : undefined;
}

/** The name of a type in expressions. */
export function typeName(type: CelType): string {
  return String(type)
    .replace(/google\.protobuf\.(Timestamp|Duration)/g, (_, name: string) => name.toLowerCase())
    .replace('null_type', 'null');
}

/** A type with its article, for messages: `an int`. */
export function describeType(type: CelType): string {
  const name = typeName(type);
  return name === 'null' ? name : `${/^[aeiou](?!int)/.test(name) ? 'an' : 'a'} ${name}`;
}

// The public suite of CEL (Apache-2.0, from npm), as far as it is about the language and not about protocol buffers.

import {
  type CelInput,
  type CelResult,
  CelScalar,
  type CelType,
  celList,
  celMap,
  celType,
  celUint,
  isCelError,
  isCelList,
  isCelMap,
  isCelType,
  isCelUint,
} from '@bufbuild/cel';
import type { Value } from '@bufbuild/cel-spec/cel/expr/value_pb.js';
import type { IncrementalTest, IncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js';
import { getConformanceSuite } from '@bufbuild/cel-spec/testdata/tests.js';

/** A case of the suite, in our words. */
export interface Case {
  /** `section/name` */
  name: string;
  expression: string;
  container: string;
  bindings: Record<string, CelInput>;
  /** What must come out; undefined: an error. */
  expected: { text: string } | undefined;
}

/** The cases of one file; those about messages and enumerations of protocol buffers are left out: policies have none. */
export function casesOf(file: string): Case[] {
  const suite = getConformanceSuite().suites.find(({ name }) => name === file);
  if (!suite) throw new Error(`the suite has no file ${file}`);
  return tests(suite, '').flatMap(({ path, test }) => caseOf(path, test) ?? []);
}

function tests(suite: IncrementalTestSuite, path: string): { path: string; test: IncrementalTest }[] {
  return [
    ...suite.tests.map((test) => ({ path: `${path}${test.name}`, test })),
    ...suite.suites.flatMap((inner) => tests(inner, `${path}${inner.name}/`)),
  ];
}

function caseOf(name: string, { original }: IncrementalTest): Case | undefined {
  const { expr, container, bindings, resultMatcher, checkOnly } = original;
  if (
    checkOnly ||
    /TestAllTypes|google\.protobuf\.(?!Timestamp|Duration)|Global(Enum|\.)|NestedEnum|proto[23]/.test(expr + container)
  )
    return undefined;
  try {
    return {
      name,
      expression: expr,
      container,
      bindings: Object.fromEntries(
        Object.entries(bindings).map(([key, { kind }]) => {
          if (kind.case !== 'value') throw new RangeError();
          return [key, celOf(kind.value)];
        }),
      ),
      expected:
        resultMatcher.case === 'value'
          ? { text: shown(celOf(resultMatcher.value)) }
          : resultMatcher.case === undefined
            ? { text: shown(true) }
            : undefined,
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Throws a RangeError for messages. */
function celOf({ kind }: Value): CelInput {
  switch (kind.case) {
    case 'nullValue':
      return null;
    case 'uint64Value':
      return celUint(kind.value);
    case 'listValue':
      return celList(kind.value.values.map(celOf));
    case 'mapValue':
      return celMap(
        new Map(kind.value.entries.map(({ key, value }) => [celOf(key as Value) as string, celOf(value as Value)])),
      );
    case 'typeValue':
      return typeNamed(kind.value);
    case 'boolValue':
    case 'bytesValue':
    case 'doubleValue':
    case 'int64Value':
    case 'stringValue':
      return kind.value;
    default:
      throw new RangeError('a message');
  }
}

function typeNamed(name: string): CelType {
  const found = Object.values(CelScalar).find((type) => type.name === name);
  if (found) return found;
  if (name === 'list') return celType(celList([]));
  if (name === 'map') return celType(celMap(new Map()));
  throw new RangeError('another type');
}

/** A value in a form that is the same for equal values of the same type, and for no others. */
export function shown(value: CelInput): string {
  if (typeof value === 'number') return `double ${Object.is(value, -0) ? '-0' : value}`;
  if (typeof value === 'bigint') return `int ${value}`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  if (isCelUint(value)) return `uint ${value.value}`;
  if (isCelList(value)) return `[${Array.from(value, shown).join(', ')}]`;
  if (isCelMap(value))
    return `{${Array.from(value, ([key, one]) => `${shown(key as string)}: ${shown(one)}`)
      .sort()
      .join(', ')}}`;
  if (isCelType(value)) return `type ${value.name}`;
  return `message ${String((value as { desc?: { typeName: string } }).desc?.typeName)}`;
}

/** What came out of an evaluation, to compare with what is expected. */
export function outcomeOf(result: CelResult): string | undefined {
  return isCelError(result) ? undefined : shown(result);
}

// Reads what a client sent against an input type, before GraphQL does, so that a mistake names its member in the
// client's own words and has a number. REST and GraphQL both come here.

import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { ApiError, type InputPath, readInputPath } from '../errors/errors.ts';
import { ProblemCollector } from '../errors/problems.ts';
import { restName } from '../naming.ts';
import { restEnumOf, restWord } from '../rest-words.ts';

/** How REST or GraphQL names members and values, and whether values are coerced. */
export interface InputStyle {
  memberName(member: string): string;
  wordOf(type: GraphQLEnumType, name: string): string;
  /** Whether one value may stand for a list of one, and a number for an id, as GraphQL has it. */
  coerces: boolean;
}

export const restInput: InputStyle = { memberName: restName, wordOf: restWord, coerces: false };
export const graphqlInput: InputStyle = {
  memberName: (member) => member,
  wordOf: (_, name) => name,
  coerces: true,
};

/** Objects inside each other: filters may contain filters, and each reader of them has a stack. */
const LEVELS_MAX = 100;

/** Reads the values that one request gives, and collects what is wrong with them. */
export class InputReader {
  readonly #style: InputStyle;
  readonly #problems = new ProblemCollector();
  /** Where the value that is being read stands in the arguments, up to where paths of its members begin. */
  #place: InputPath = [];
  /** The path at which it was begun to be read. */
  #root = '';

  constructor(style: InputStyle) {
    this.#style = style;
  }

  /**
   * @param path where the value stands, in camelCase; empty for the body itself.
   * @param place where it stands in the arguments of a field.
   * @returns the value as GraphQL takes it: members in camelCase, in the order of the type. It is of use when nothing is wrong.
   */
  read(type: GraphQLInputType, value: unknown, path: string, place: InputPath = []): unknown {
    this.#place = place;
    this.#root = path;
    return this.#read(type, value, path, 0);
  }

  /** @throws {ApiError} for the unknown, missing and wrong members of all values that were read, in the order of their types. */
  throwProblems(): void {
    this.#problems.throwIfAny();
  }

  #read(type: GraphQLInputType, value: unknown, path: string, level: number): unknown {
    if (level > LEVELS_MAX) return this.#refuse(path, wrongValue(path, `at most ${LEVELS_MAX} levels are possible`));
    const style = this.#style;
    if (isNonNullType(type)) {
      if (value === null || value === undefined || isEmptyEnum(type.ofType, value, style))
        return this.#refuse(path, new ApiError('missingMember', { member: path }));
      return this.#read(type.ofType, value, path, level);
    }
    if (value === null || value === undefined) return value;
    if (isEmptyEnum(type, value, style)) return null;

    if (isListType(type)) {
      if (Array.isArray(value))
        return value.map((item, index) => this.#read(type.ofType, item, `${path}[${index}]`, level));
      if (style.coerces) return [this.#read(type.ofType, value, path, level)];
      return this.#refuse(path, wrongValue(path, 'it must be a list'));
    }

    if (isInputObjectType(type)) return this.#readObject(type, value, path, level);
    if (isEnumType(type)) return this.#readWord(type, value, path);

    const mistake =
      type.name === 'ID' && typeof value !== 'string' && !style.coerces
        ? 'it must be a string'
        : leafMistake(type, value);
    if (mistake !== undefined) return this.#refuse(path, wrongValue(path, mistake));
    return value; // GraphQL parses it once more; what it is given must be as it came.
  }

  #readObject(type: GraphQLInputObjectType, value: unknown, path: string, level: number): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return this.#refuse(path, wrongValue(path, 'it must be an object'));
    const given = value as Record<string, unknown>;
    const result: Record<string, unknown> = {};
    let read = 0;
    for (const [name, field] of Object.entries(type.getFields())) {
      const outer = this.#style.memberName(name);
      if (Object.hasOwn(given, outer)) read++;
      else if (field.defaultValue !== undefined) continue;
      const inner = this.#read(
        field.type,
        Object.hasOwn(given, outer) ? given[outer] : undefined,
        memberPath(path, name),
        level + 1,
      );
      if (inner !== undefined) result[name] = inner;
    }
    if (read < Object.keys(given).length) this.#refuseUnknown(type, given, path);
    return result;
  }

  /** The name that GraphQL has for a value of an enum. */
  #readWord(type: GraphQLEnumType, value: unknown, path: string): unknown {
    const names = type.getValues().map(({ name }) => name);
    const words = names.map((name) => this.#style.wordOf(type, name));
    const name = names[words.indexOf(value as string)];
    if (name !== undefined) return name;
    const { isText = false, refusal } = (this.#style.coerces ? undefined : restEnumOf(type)) ?? {};
    if (isText && typeof value !== 'string') return this.#refuse(path, wrongValue(path, 'it must be a string'));
    return this.#refuse(path, refusal ? new ApiError(refusal, { member: path }) : wrongValue(path, oneOf(words)));
  }

  #refuseUnknown(type: GraphQLInputObjectType, given: object, path: string): void {
    const names = Object.keys(type.getFields()).map((name) => this.#style.memberName(name));
    const place = path && `${this.#style.memberName(path)}.`;
    for (const stranger of Object.keys(given))
      if (!names.includes(stranger))
        this.#refuse(
          path,
          new ApiError('unknownMember', { culprit: place + stranger, known: names.join(', ') }),
          stranger,
        );
  }

  /** @param name of the member of what stands there; left out: it is what stands there. */
  #refuse(path: string, error: ApiError, ...name: string[]): void {
    error.inputPath = [...this.#place, ...readInputPath(path.slice(this.#root.length)), ...name];
    this.#problems.add(error);
  }
}

/** One value, as an `InputReader` reads it. @throws {ApiError} when something is wrong with it. */
export function readInput(type: GraphQLInputType, value: unknown, path: string, style: InputStyle): unknown {
  const reader = new InputReader(style);
  const read = reader.read(type, value, path);
  reader.throwProblems();
  return read;
}

/** REST clients that send every member write "" for one of a few words that was not given. */
function isEmptyEnum(type: GraphQLInputType, value: unknown, style: InputStyle): boolean {
  return value === '' && !style.coerces && isEnumType(type) && !restEnumOf(type)?.refusal;
}

/** What is wrong with a text, a number or their like; undefined when nothing is. */
export function leafMistake(type: GraphQLLeafType, value: unknown): string | undefined {
  try {
    type.parseValue(value);
    return undefined;
  } catch (error) {
    return leafExpectation(type) ?? messageOf(error);
  }
}

/** What a leaf must be, in words; undefined where its type says more. */
export function leafExpectation(type: GraphQLLeafType): string | undefined {
  return expectations[type.name] ?? (isEnumType(type) ? oneOf(type.getValues().map(({ name }) => name)) : undefined);
}

const expectations: Record<string, string> = {
  String: 'it must be a string',
  ID: 'it must be a string',
  Boolean: 'it must be true or false',
  Int: 'it must be a whole number of at most 32 bits',
  Float: 'it must be a number',
  UInt32: 'it must be a whole number from 0 to 4294967295',
  Labels: 'it must be an object whose members are all strings',
};

function oneOf(names: string[]): string {
  return `it must be one of ${names.join(', ')}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** @param member empty for the body itself. */
export function wrongValue(member: string, reason: string): ApiError {
  return new ApiError('wrongValue', { member: member || 'body', reason });
}

function memberPath(path: string, name: string): string {
  return path ? `${path}.${name}` : name;
}

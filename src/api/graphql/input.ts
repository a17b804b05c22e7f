// Reads what a client sent against an input type, before GraphQL does, so that a mistake names its member in the
// client's own words and has a number. REST and GraphQL both come here.

import {
  type GraphQLInputType,
  type GraphQLLeafType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { ApiError } from '../errors/errors.ts';
import { restName } from '../naming.ts';

/** How REST or GraphQL names members, and whether values are coerced. */
export interface InputStyle {
  memberName(member: string): string;
  /** Whether one value may stand for a list of one, and a number for an id, as GraphQL has it. */
  coerces: boolean;
}

export const restInput: InputStyle = { memberName: restName, coerces: false };
export const graphqlInput: InputStyle = { memberName: (member) => member, coerces: true };

/** Objects inside each other: filters may contain filters, and each reader of them has a stack. */
const LEVELS_MAX = 100;

/**
 * @param path where the value stands, in camelCase; empty for the body itself.
 * @returns the value as GraphQL takes it: members in camelCase, in the order of the type.
 * @throws {ApiError} for an unknown, missing or wrong member.
 */
export function readInput(type: GraphQLInputType, value: unknown, path: string, style: InputStyle, level = 0): unknown {
  if (level > LEVELS_MAX) throw wrongValue(path, `at most ${LEVELS_MAX} levels are possible`);
  if (isNonNullType(type)) {
    if (value === null || value === undefined || isEmptyEnum(type.ofType, value, style))
      throw new ApiError('missingMember', { member: path });
    return readInput(type.ofType, value, path, style, level);
  }
  if (value === null || value === undefined) return value;
  if (isEmptyEnum(type, value, style)) return null;

  if (isListType(type)) {
    if (Array.isArray(value))
      return value.map((item, index) => readInput(type.ofType, item, `${path}[${index}]`, style, level));
    if (style.coerces) return [readInput(type.ofType, value, path, style, level)];
    throw wrongValue(path, 'it must be a list');
  }

  if (isInputObjectType(type)) {
    if (typeof value !== 'object' || Array.isArray(value)) throw wrongValue(path, 'it must be an object');
    const given = value as Record<string, unknown>;
    const fields = type.getFields();
    const result: Record<string, unknown> = {};
    let read = 0;
    for (const [name, field] of Object.entries(fields)) {
      const outer = style.memberName(name);
      if (Object.hasOwn(given, outer)) read++;
      else if (field.defaultValue !== undefined) continue;
      const inner = readInput(
        field.type,
        Object.hasOwn(given, outer) ? given[outer] : undefined,
        memberPath(path, name),
        style,
        level + 1,
      );
      if (inner !== undefined) result[name] = inner;
    }
    if (read < Object.keys(given).length) throw unknownMember(given, Object.keys(fields), path, style);
    return result;
  }

  if (type.name === 'ID' && typeof value !== 'string' && !style.coerces) throw wrongValue(path, 'it must be a string');
  return readLeaf(type, value, path);
}

/** REST clients that send every member write "" for one of a few words that was not given. */
function isEmptyEnum(type: GraphQLInputType, value: unknown, style: InputStyle): boolean {
  return value === '' && !style.coerces && isEnumType(type);
}

function readLeaf(type: GraphQLLeafType, value: unknown, path: string): unknown {
  try {
    type.parseValue(value);
    return value; // GraphQL parses it once more; what it is given must be as it came.
  } catch (error) {
    throw wrongValue(
      path,
      expectations[type.name] ??
        (isEnumType(type) ? oneOf(type.getValues().map(({ name }) => name)) : messageOf(error)),
    );
  }
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

function wrongValue(member: string, reason: string): ApiError {
  return new ApiError('wrongValue', { member: member || 'body', reason });
}

function unknownMember(given: Record<string, unknown>, names: string[], path: string, style: InputStyle): ApiError {
  const known = names.map((name) => style.memberName(name));
  const stranger = Object.keys(given).find((name) => !known.includes(name)) ?? '';
  const place = path && `${style.memberName(path)}.`;
  return new ApiError('unknownMember', { culprit: place + stranger, known: known.join(', ') });
}

function memberPath(path: string, name: string): string {
  return path ? `${path}.${name}` : name;
}

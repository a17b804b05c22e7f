// The header fields that a policy sets or removes.

import { isFieldValue, isFramingField, isHttpToken } from '../../http/header-list.ts';
import type { Template } from '../cel/template.ts';
import type { ConfigReader } from './action-kind.ts';
import { PROBLEM } from './problems.ts';
import { isObject } from './values.ts';

/** The most characters of a name; no real one has so many. */
const NAME_MAX = 128;
/** The most bytes of a value, constant or computed. */
export const HEADER_VALUE_MAX = 8192;

/** Checks the name of a field that a policy sets or removes. @returns the mistake; undefined when there is none. */
export function headerNameProblem(name: string): { number: number; message: string } | undefined {
  if (name === '' || name.length > NAME_MAX)
    return { number: PROBLEM.headerNameLength, message: `must be a name of 1 to ${NAME_MAX} characters` };
  if (!isHttpToken(name))
    return { number: PROBLEM.headerName, message: 'must be the name of a header field, as "x-device"' };
  if (isFramingField(name))
    return { number: PROBLEM.reserved, message: 'is set by the gateway itself, and cannot be changed by a policy' };
  if (name.toLowerCase() === 'user-agent')
    return { number: PROBLEM.reserved, message: 'cannot be changed by a policy' };
  return undefined;
}

/** Reads an object of header fields: names, and values that are templates. */
export function readHeaders(
  config: ConfigReader,
  member: string,
  limits: { min: number; max: number },
): { name: string; value: Template }[] {
  const value = config.raw(member);
  if (value === undefined) {
    if (limits.min > 0) config.problem(member, PROBLEM.missing, 'is missing: it must be an object of header fields');
    return [];
  }
  if (!isObject(value)) {
    config.problem(member, PROBLEM.field, 'must be an object of header names and values');
    return [];
  }
  const entries = Object.entries(value);
  if (entries.length < limits.min || entries.length > limits.max)
    config.problem(member, PROBLEM.headerCount, `must have ${limits.min} to ${limits.max} header fields`);
  return entries.flatMap(([name, text]) => {
    const path = `${member}.${name}`;
    const mistake = headerNameProblem(name) ?? valueProblem(text);
    if (!mistake) return { name, value: config.compile(path, text, 'header') };
    config.problem(path, mistake.number, mistake.message);
    return [];
  });
}

function valueProblem(text: unknown): { number: number; message: string } | undefined {
  if (typeof text !== 'string') return undefined; // `compile` reports it.
  if (Buffer.byteLength(text) > HEADER_VALUE_MAX)
    return { number: PROBLEM.headerValueLength, message: `must have at most ${HEADER_VALUE_MAX} bytes` };
  if (!isFieldValue(text))
    return { number: PROBLEM.headerValue, message: 'must be one line without control characters' };
  return undefined;
}

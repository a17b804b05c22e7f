// The header fields that a policy sets or removes.

import type { ConfigReader, Template } from './action.ts';
import { isObject } from './objects.ts';
import { PROBLEM } from './problems.ts';

/** Characters of a name; much more than any real one has. */
const NAME_MAX = 128;
/** Bytes of a value, computed or not. */
export const HEADER_VALUE_MAX = 8192;
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** A value that is one line of visible characters and blanks (RFC 9110, section 5.5). */
const VALUE = /^[\t\x20-\x7e\u0080-\u{10ffff}]*$/u;

/** They say how a message is framed, or are for one hop only: the gateway's own business. */
const FRAMING = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** @returns what is wrong with the name of a field that a policy sets or removes; undefined when nothing is. */
export function headerNameProblem(name: string): { number: number; message: string } | undefined {
  if (name === '' || name.length > NAME_MAX)
    return { number: PROBLEM.headerNameLength, message: `must be a name of 1 to ${NAME_MAX} characters` };
  if (!TOKEN.test(name))
    return { number: PROBLEM.headerName, message: 'must be the name of a header field, as "x-device"' };
  const lower = name.toLowerCase();
  if (FRAMING.has(lower))
    return { number: PROBLEM.reserved, message: 'is set by the gateway itself, and cannot be changed by a policy' };
  if (lower === 'user-agent') return { number: PROBLEM.reserved, message: 'cannot be changed by a policy' };
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
    config.problem(member, PROBLEM.field, 'must be an object: values by the names of header fields');
    return [];
  }
  const entries = Object.entries(value);
  if (entries.length < limits.min || entries.length > limits.max)
    config.problem(member, PROBLEM.headerCount, `must have ${limits.min} to ${limits.max} header fields`);
  return entries.flatMap(([name, text]) => {
    const path = `${member}.${name}`;
    const wrong = headerNameProblem(name) ?? valueProblem(text);
    if (!wrong) return { name, value: onWire(config.compile(path, text, 'header')) };
    config.problem(path, wrong.number, wrong.message);
    return [];
  });
}

/**
 * A value of a field as it is sent: a character for each byte. What has others than those of Latin-1 is sent as UTF-8. Cut
 * to bytes, some of them would end the line.
 */
export function onWire(template: Template): Template {
  const { constant } = template;
  return {
    ...template,
    constant: constant === undefined ? undefined : wireText(constant),
    evaluate: (bindings) => wireText(template.evaluate(bindings)),
  };
}

function wireText(text: string): string {
  return /[^\0-\xff]/.test(text) ? Buffer.from(text).toString('latin1') : text;
}

function valueProblem(text: unknown): { number: number; message: string } | undefined {
  if (typeof text !== 'string') return undefined; // Whoever compiles it says so.
  if (Buffer.byteLength(text) > HEADER_VALUE_MAX)
    return { number: PROBLEM.headerValueLength, message: `must have at most ${HEADER_VALUE_MAX} bytes` };
  if (!VALUE.test(text)) return { number: PROBLEM.headerValue, message: 'must be one line without control characters' };
  return undefined;
}

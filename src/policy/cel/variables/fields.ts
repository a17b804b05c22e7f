// Reads single header fields of requests and responses.

import type { HeaderList } from '../../../http/header-list.ts';

/** A header field. */
export type HeaderField = readonly [name: string, value: string];

/** The value for a body of unknown length. A rule that limits lengths must handle it. */
export const UNKNOWN_LENGTH = -1;

/** All values of a field, in order. */
export function fieldValues(fields: readonly HeaderField[], name: string): string[] {
  const wanted = name.toLowerCase();
  const values: string[] = [];
  for (const field of fields)
    if (field[0].length === wanted.length && field[0].toLowerCase() === wanted) values.push(field[1]);
  return values;
}

/** The first value of a field; empty when there is none. */
export function firstOf(fields: HeaderList, name: string): string {
  return fieldValues(fields.list, name)[0] ?? '';
}

/** The content codings of the body, in the order in which they were applied. */
export function codings(fields: HeaderList): string[] {
  const values = fieldValues(fields.list, 'content-encoding').join(',').toLowerCase();
  return values.split(',').flatMap((coding) => coding.trim() || []);
}

/** A parameter of a media type (RFC 9110, section 8.3.1). */
const PARAMETER = /;\s*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^;"]*))/g;

/** The media type in lower case and without parameters, as in `text/html`. */
export function mediaType(value: string): string {
  const end = value.indexOf(';');
  return (end < 0 ? value : value.slice(0, end)).trim().toLowerCase();
}

/** The parameters by their names in lower case. Malformed ones are skipped; of several with one name, the first counts. */
export function mediaTypeParameters(value: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of value.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (!parameters.has(key)) parameters.set(key, quoted === undefined ? plain.trim() : quoted.replace(/\\(.)/g, '$1'));
  }
  return parameters;
}

// Header fields in which the gateway tells upstreams what it has found out. Nobody else can send them.

import type { HeaderList } from '../../http/header-list.ts';

/** A field. */
export type GatewayHeader = readonly [name: string, value: string];

/**
 * Sets them; what a visitor has sent under such names is gone. Many servers read `_` as `-`.
 * @param prefix what the names begin with, in lower case.
 * @param lines with values as `escapedFieldValue` makes them.
 */
export function setGatewayHeaders(fields: HeaderList, prefix: string, lines: readonly GatewayHeader[]): void {
  const isForged = (name: string) => name.slice(0, prefix.length).toLowerCase().replaceAll('_', '-') === prefix;
  const forged = fields.list.filter(([name]) => isForged(name));
  for (const [name] of forged) fields.remove(name);
  for (const [name, value] of lines) fields.add(name, value);
}

/** What is no visible ASCII, commas and percent signs are escaped as in URLs. */
export function escapedFieldValue(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x24\x26-\x2b\x2d-\x7e]+/g, encodeURIComponent);
}

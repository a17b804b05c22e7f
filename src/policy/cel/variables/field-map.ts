// Header fields for expressions: a map from names to lists of values. Look-ups are case-insensitive.

import { type CelList, type CelMap, celList, celMap } from '@bufbuild/cel';
import type { HeaderList } from '../../../http/header-list.ts';
import { fieldValues, type HeaderField } from './fields.ts';

/** The spelling of names in an iteration. */
export type Spelling = (name: string) => string;

export const lowerCase: Spelling = (name) => name.toLowerCase();

/** The spelling `Content-Type`, which policies of 2024 expect. */
export const canonicalCase: Spelling = (name) =>
  name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());

/**
 * Creates a live view of the fields, which shows later changes.
 * @param host the value of the Host field, which requests store separately.
 */
export function fieldMap(fields: HeaderList, spelling: Spelling = lowerCase, host?: string): CelMap {
  return celMap(new FieldMap(fields, spelling, host));
}

/** The view. A look-up scans the list, which is cheaper than a map for one or two names; an iteration builds a map. */
class FieldMap implements ReadonlyMap<string, CelList> {
  readonly #fields: HeaderList;
  readonly #spelling: Spelling;
  readonly #host: string | undefined;

  constructor(fields: HeaderList, spelling: Spelling, host: string | undefined) {
    this.#fields = fields;
    this.#spelling = spelling;
    this.#host = host;
  }

  get(name: unknown): CelList | undefined {
    if (typeof name !== 'string') return undefined; // CEL also looks up keys of other types.
    const values = fieldValues(this.#fields.list, name);
    if (this.#host !== undefined && name.toLowerCase() === 'host') values.unshift(this.#host);
    return values.length > 0 ? celList(values) : undefined;
  }

  has(name: unknown): boolean {
    return this.get(name) !== undefined;
  }

  get size(): number {
    return this.#map().size;
  }

  keys() {
    return this.#map().keys();
  }

  values() {
    return this.#map().values();
  }

  entries() {
    return this.#map().entries();
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  forEach(visit: (values: CelList, name: string, map: ReadonlyMap<string, CelList>) => void): void {
    this.#map().forEach(visit);
  }

  #lines(): readonly HeaderField[] {
    const { list } = this.#fields;
    return this.#host === undefined ? list : [['host', this.#host], ...list];
  }

  #map(): Map<string, CelList> {
    const values = new Map<string, string[]>();
    for (const [name, value] of this.#lines()) {
      const spelled = this.#spelling(name);
      const known = values.get(spelled);
      if (known) known.push(value);
      else values.set(spelled, [value]);
    }
    return new Map([...values].map(([name, list]) => [name, celList(list)]));
  }
}

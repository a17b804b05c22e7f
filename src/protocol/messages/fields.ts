// Typed access to the members of a JSON message. Their names are case-insensitive, as existing SDKs spell them differently.

import { MessageError } from './json-reader.ts';

/** Reads members by name. An absent or null member reads as the empty value of its type. */
export class Fields {
  readonly #values: Map<string, unknown>;

  constructor(message: object) {
    this.#values = new Map(Object.entries(message).map(([name, value]) => [name.toLowerCase(), value]));
  }

  /** @throws {MessageError} when the member is present and not a string. The other methods throw likewise. */
  text(name: string): string {
    return this.#typed(name, 'string', '', 'a text');
  }

  flag(name: string): boolean {
    return this.#typed(name, 'boolean', false, 'true or false');
  }

  number(name: string): number {
    return this.#typed(name, 'number', 0, 'a number');
  }

  /** The string; null when the member is null or absent. */
  textOrNull(name: string): string | null {
    return this.has(name) ? this.text(name) : null;
  }

  texts(name: string): string[] {
    const value = this.#values.get(name.toLowerCase()) ?? [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    throw new MessageError(`${name} must be a list of texts`);
  }

  /** An object whose values are strings. */
  labels(name: string): Record<string, string> {
    const value = this.object(name);
    if (Object.values(value).every((item) => typeof item === 'string')) return value as Record<string, string>;
    throw new MessageError(`${name} must hold texts only`);
  }

  object(name: string): object {
    const value = this.#values.get(name.toLowerCase()) ?? {};
    if (typeof value === 'object' && !Array.isArray(value)) return value;
    throw new MessageError(`${name} must be an object`);
  }

  /** A list of objects. */
  list(name: string): Fields[] {
    const value = this.#values.get(name.toLowerCase()) ?? [];
    if (
      Array.isArray(value) &&
      value.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item))
    )
      return value.map((item) => new Fields(item));
    throw new MessageError(`${name} must be a list of objects`);
  }

  fields(name: string): Fields {
    return new Fields(this.object(name));
  }

  /** Whether the member is present and not null. */
  has(name: string): boolean {
    return this.#values.get(name.toLowerCase()) != null;
  }

  #typed<T>(name: string, type: string, empty: T, what: string): T {
    const value = this.#values.get(name.toLowerCase()) ?? empty;
    if (typeof value !== type) throw new MessageError(`${name} must be ${what}`);
    return value as T;
  }
}

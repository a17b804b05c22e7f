// Header fields that may be changed on their way.

/** Fields in their order, with names as they were written; names are looked up without regard to case. */
export class HeaderList {
  /** Whether anything was changed since it was read. */
  isChanged = false;
  #list: (readonly [name: string, value: string])[];
  readonly #isOfRequest: boolean;

  /**
   * @param isOfRequest whether a field goes away with those whose names differ in `_` for `-` alone: what reads a request as
   *   CGI does takes them for the same, and a visitor could say in one what a module says, or takes out, in the other.
   */
  constructor(list: readonly (readonly [name: string, value: string])[], isOfRequest = false) {
    this.#list = [...list];
    this.#isOfRequest = isOfRequest;
  }

  get list(): readonly (readonly [name: string, value: string])[] {
    return this.#list;
  }

  /** All values of a field, in order. */
  all(name: string): string[] {
    const wanted = name.toLowerCase();
    return this.#list.flatMap(([other, value]) => (isNamed(other, wanted) ? value : []));
  }

  /** The first value of a field. */
  get(name: string): string | undefined {
    const wanted = name.toLowerCase();
    return this.#list.find(([other]) => isNamed(other, wanted))?.[1];
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Adds a line. What would end it, or hide something in it, is taken out of the value. */
  add(name: string, value: string): void {
    this.#list.push([name, sanitizedFieldValue(value)]);
    this.isChanged = true;
  }

  /** Replaces all lines of a field with one. */
  set(name: string, value: string): void {
    this.remove(name);
    this.add(name, value);
  }

  /** Replaces values where they are. @param change gives the value that a line is to have. */
  changeValues(change: (name: string, value: string) => string): void {
    this.#list = this.#list.map((line) => {
      const [name, value] = line;
      const changed = change(name, value);
      if (changed === value) return line;
      this.isChanged = true;
      return [name, sanitizedFieldValue(changed)];
    });
  }

  /** Takes out the lines that are meant. */
  removeIf(isMeant: (line: readonly [name: string, value: string]) => boolean): void {
    const left = this.#list.filter((line) => !isMeant(line));
    if (left.length === this.#list.length) return;
    this.#list = left;
    this.isChanged = true;
  }

  /** @returns whether there was one. */
  remove(name: string): boolean {
    const wanted = this.#isOfRequest ? asCgi(name) : name.toLowerCase();
    const isMeant = this.#isOfRequest
      ? (other: string) => other.length === wanted.length && asCgi(other) === wanted
      : (other: string) => isNamed(other, wanted);
    const left = this.#list.filter(([other]) => !isMeant(other));
    if (left.length === this.#list.length) return false;
    this.#list = left;
    this.isChanged = true;
    return true;
  }
}

/** @param wanted in lower case. Most names differ in length already. */
function isNamed(name: string, wanted: string): boolean {
  return name.length === wanted.length && name.toLowerCase() === wanted;
}

/** As those read a name who take `_` for `-` (RFC 3875, section 4.1.18). */
function asCgi(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

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

/** Whether it can be the name of a field, a method or a protocol (RFC 9110, section 5.6.2). */
export function isHttpToken(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name);
}

export function isFramingField(name: string): boolean {
  return FRAMING.has(name.toLowerCase());
}

/** Whether it can be a value: one line without control characters (RFC 9110, section 5.5). */
export function isFieldValue(value: string): boolean {
  return /^[\t\x20-\x7e\u0080-\u{10ffff}]*$/u.test(value);
}

/** A text that somebody wrote, as the bytes of UTF-8 that it is sent in, a character for each. */
export function utf8FieldValue(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** What most values are, and can be sent as it is. */
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;

/**
 * A value as it can be written: without control characters (RFC 9110, section 5.5), as one field must never become two, and
 * with what Latin-1 does not have as the bytes of UTF-8. Heads are written in Latin-1, where such a letter would lose its
 * upper half and could be a line end.
 */
export function sanitizedFieldValue(value: string): string {
  if (PLAIN.test(value)) return value;
  const bytes = /[^\0-\xff]/.test(value) ? Buffer.from(value).toString('latin1') : value;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return bytes.replace(/[\0-\x08\x0a-\x1f\x7f]/g, '').replace(/^[ \t]+|[ \t]+$/g, '');
}

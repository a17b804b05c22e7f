// Reads a YAML file strictly: an unknown key is a mistake, and each mistake is told with its line.

import type { Document, Node, Pair, YAMLMap } from 'yaml';

/** All mistakes of a file, a line for each. */
export class YamlError extends Error {}

/** The mistakes of a file, as they are found. */
export class Mistakes {
  readonly #texts: string[] = [];
  readonly #file: string;

  /** @param file its name in the messages. */
  constructor(file: string) {
    this.#file = file;
  }

  /** @param line from 1. @param text has the path of what is wrong. */
  add(line: number, text: string): void {
    this.#texts.push(`${this.#file} line ${line}: ${text}`);
  }

  /** @throws {YamlError} when there were any. */
  throwAny(): void {
    if (this.#texts.length > 0) throw new YamlError(this.#texts.join('\n'));
  }
}

/** A mapping whose keys are known. */
export interface Section {
  /** The value of a key as `parse` returns it; undefined when the key is missing or has a mistake, which is noted. */
  get<T>(key: string, parse: (value: unknown) => T): T | undefined;
  /** The mapping at a key; undefined when there is none. @param known its keys. */
  section(key: string, known: readonly string[]): Section | undefined;
  /** The mappings in the list at a key. @param known their keys. */
  sections(key: string, known: readonly string[]): Section[];
  /** Notes a mistake. @param key where; the mapping itself when left out. */
  fail(text: string, key?: string): void;
}

/**
 * Parses a text.
 * @param known the keys of the whole. @param mistakes gets what is wrong.
 * @returns undefined when it is no mapping.
 * @throws {YamlError} when the text is not YAML.
 */
export async function readYaml(
  text: string,
  known: readonly string[],
  mistakes: Mistakes,
): Promise<Section | undefined> {
  // Most agents have no such file: the parser is loaded when there is one.
  const { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  for (const error of document.errors) mistakes.add(lineAt(error.pos[0]), error.message);
  mistakes.throwAny();

  const lineOf = (node: unknown) => lineAt((node as Node | null)?.range?.[0] ?? 0);
  const nameOf = ({ key }: Pair) => (isScalar(key) ? String(key.value) : '');

  function read(map: YAMLMap, path: string, keys: readonly string[]): Section {
    const pairs = map.items.filter((item) => isPair(item));
    for (const pair of pairs)
      if (!keys.includes(nameOf(pair)))
        mistakes.add(lineOf(pair.key), `${path}${nameOf(pair)} is not known; known are: ${keys.join(', ')}`);
    const pairOf = (key: string) => pairs.find((pair) => nameOf(pair) === key);
    const fail = (text: string, key?: string) => {
      const pair = key === undefined ? undefined : pairOf(key);
      const where = `${path}${key ?? ''}`.replace(/\.$/, '');
      mistakes.add(lineOf(pair ? pair.key : map), where === '' ? text : `${where} ${text}`);
    };
    const nodeAt = (key: string) => {
      const value = pairOf(key)?.value as Node | null | undefined;
      return value == null || (isScalar(value) && value.value === null) ? undefined : value;
    };
    return {
      fail,
      get(key, parse) {
        const value = nodeAt(key);
        if (!value) return undefined;
        try {
          return parse(value.toJS(document as Document, { maxAliasCount: 100 }));
        } catch (error) {
          fail((error as Error).message, key);
          return undefined;
        }
      },
      section(key, inner) {
        const value = nodeAt(key);
        if (isMap(value)) return read(value, `${path}${key}.`, inner);
        if (value) fail('must be a mapping', key);
        return undefined;
      },
      sections(key, inner) {
        const value = nodeAt(key);
        if (!value) return [];
        if (!isSeq(value)) fail('must be a list', key);
        const items = isSeq(value) ? value.items : [];
        return items.flatMap((item, i) => {
          if (isMap(item)) return [read(item, `${path}${key}[${i}].`, inner)];
          mistakes.add(lineOf(item), `${path}${key}[${i}] must be a mapping`);
          return [];
        });
      },
    };
  }

  if (isMap(document.contents)) return read(document.contents, '', known);
  mistakes.add(1, 'the file must be a mapping, with the keys: '.concat(known.join(', ')));
  return undefined;
}

// Parses the text of a traffic policy, in JSON or YAML.

import type { ErrorCode } from 'yaml';
import { POLICY_LIMITS } from '../../protocol/policy/policy-shape.ts';
import { lazyPackage } from '../../runtime/lazy-package.ts';
import { jsonRanges, type Range } from './json-ranges.ts';
import { PolicyError, PROBLEM } from './problems.ts';

const yaml = lazyPackage<typeof import('yaml')>('yaml');

/** The most characters of a JSON text: twice the limit of the document, for whitespace. */
const TEXT_MAX = 2 * POLICY_LIMITS.document;
/** The most characters of a YAML text. The limit is lower, as YAML takes much longer to parse. */
const YAML_MAX = POLICY_LIMITS.document;
/** The most aliases of a YAML text: enough for people, too few for a "billion laughs" attack. */
const ALIASES_MAX = 100;

/** Messages for errors whose own messages would quote the text, which may contain a secret. */
const SAFE_MESSAGES: Partial<Record<ErrorCode, string>> = {
  BAD_DIRECTIVE: 'There is a directive that is not known',
  BAD_DQ_ESCAPE: 'There is an escape sequence that is none',
  BAD_SCALAR_START: 'A value begins with a character that has to be in quotes',
  TAG_RESOLVE_FAILED: 'There is a tag that is not known',
  UNEXPECTED_TOKEN: 'There is something that cannot stand there',
};

/** A parsed text. */
export interface PolicyText {
  /** The parsed value, which is not validated. */
  document: unknown;
  /** The limit of texts in this format, in characters. */
  max: number;
  /** Whether the text has YAML aliases, so that several paths may lead to one place in it. */
  hasAliases: boolean;
  /**
   * The range of the scalar at a path, including its quotes. It follows aliases. Undefined when the path is ambiguous, as an
   * object has a member twice.
   */
  rangeOf(path: readonly (string | number)[]): Range | undefined;
}

/**
 * Parses a text of at most 128 Ki characters into a value.
 * @throws {PolicyError} when it is neither JSON nor YAML, with line and column.
 */
export function readPolicyDocument(text: string): unknown {
  return parsePolicyText(text).document;
}

/** Parses a text like `readPolicyDocument`, with the positions of its values. */
export function parsePolicyText(text: string): PolicyText {
  if (text.length > TEXT_MAX) throw unreadable(`must have at most ${TEXT_MAX} characters`);
  try {
    const document: unknown = JSON.parse(text);
    let ranges: ReturnType<typeof jsonRanges> | undefined;
    return {
      document,
      max: TEXT_MAX,
      hasAliases: false,
      rangeOf(path) {
        ranges ??= jsonRanges(text);
        return ranges.get(JSON.stringify(path));
      },
    };
  } catch {
    // The text may be YAML.
  }
  if (text.length > YAML_MAX) throw unreadable(`must have at most ${YAML_MAX} characters where it is not JSON`);
  return parseYaml(text);
}

function parseYaml(text: string): PolicyText {
  const { isAlias, isCollection, isNode, isScalar, LineCounter, parseDocument, visit } = yaml();
  const lines = new LineCounter();
  const document = parseDocument(text, {
    uniqueKeys: false, // The library's check is quadratic; `visit` below checks instead.
    logLevel: 'error',
    prettyErrors: false,
    lineCounter: lines,
  });
  const refuse = (message: string, position: number) => {
    const { line, col } = lines.linePos(position);
    throw unreadable(`is neither JSON nor YAML: ${message} (line ${line}, column ${col})`);
  };
  const [error] = document.errors;
  if (error) refuse(SAFE_MESSAGES[error.code] ?? error.message.split('\n', 1)[0] ?? '', error.pos[0]);
  let hasAliases = false;
  visit(document, {
    Alias() {
      hasAliases = true;
    },
    Map(_, { items }) {
      const known = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        if (known.has(name)) refuse('Map keys must be unique', isNode(key) ? (key.range?.[0] ?? 0) : 0);
        known.add(name);
      }
    },
  });
  const resolveAlias = (node: unknown) => (isAlias(node) ? node.resolve(document) : node);
  const rangeOf = (path: readonly (string | number)[]): Range | undefined => {
    let node = resolveAlias(document.contents);
    for (const key of path) node = isCollection(node) ? resolveAlias(node.get(key, true)) : undefined;
    return isScalar(node) && node.range ? [node.range[0], node.range[1]] : undefined;
  };
  try {
    return { document: document.toJS({ maxAliasCount: ALIASES_MAX }), max: YAML_MAX, hasAliases, rangeOf };
  } catch {
    throw unreadable(`cannot be read: it has an alias without its anchor, or more than ${ALIASES_MAX} aliases`);
  }
}

function unreadable(message: string): PolicyError {
  return new PolicyError([{ path: '', number: PROBLEM.document, message }]);
}

/** Whether a valid policy is enabled and has an action of this type. */
export function usesAction(text: string, type: string): boolean {
  const { enabled, ...phases } = readPolicyDocument(text) as { enabled?: boolean; [phase: string]: unknown };
  const rules = Object.values(phases).flat() as { actions: { type: string }[] }[];
  return enabled !== false && rules.some(({ actions }) => actions.some((action) => action.type === type));
}

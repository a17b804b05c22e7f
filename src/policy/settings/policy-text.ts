// A traffic policy as it is sent: a text in JSON or YAML.

import type { ErrorCode } from 'yaml';
import { POLICY_LIMITS } from '../../protocol/policy/policy-shape.ts';
import { lazyPackage } from '../../runtime/lazy-package.ts';
import { jsonRanges, type Range } from './json-ranges.ts';
import { PolicyError, PROBLEM } from './problems.ts';

const yaml = lazyPackage<typeof import('yaml')>('yaml');

/** What a text may be longer than its document: blanks and comments. */
const TEXT_MAX = 2 * POLICY_LIMITS.document;
/** YAML takes much longer to read than JSON. */
const YAML_MAX = POLICY_LIMITS.document;
/** How often YAML may repeat a part by name: enough for people, too little for a bomb. */
const ALIASES_MAX = 100;

/** What the reader of YAML says of these would show what is written there, which may be a secret. */
const TOLD: Partial<Record<ErrorCode, string>> = {
  BAD_DIRECTIVE: 'There is a directive that is not known',
  BAD_DQ_ESCAPE: 'There is an escape sequence that is none',
  BAD_SCALAR_START: 'A value begins with a character that has to be in quotes',
  TAG_RESOLVE_FAILED: 'There is a tag that is not known',
  UNEXPECTED_TOKEN: 'There is something that cannot stand there',
};

/** A text that was read. */
export interface PolicyText {
  /** What it says, which may be anything that JSON or YAML can say. */
  document: unknown;
  /** Characters that a text of the kind may have. */
  max: number;
  /** Whether what is written in one place may be meant in others, too. */
  hasAliases: boolean;
  /**
   * Where in the text the value at a path is written, be it by an alias; quotes included. Undefined where members stand
   * twice, so that a path means several.
   */
  rangeOf(path: readonly (string | number)[]): Range | undefined;
}

/**
 * Reads a text of at most 128 Ki characters.
 * @throws {PolicyError} when it is neither JSON nor YAML, with the line and the column.
 */
export function readPolicyDocument(text: string): unknown {
  return parsePolicyText(text).document;
}

/** The same, with the places of values. */
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
    // It may be YAML.
  }
  if (text.length > YAML_MAX) throw unreadable(`must have at most ${YAML_MAX} characters where it is not JSON`);
  return parseYaml(text);
}

function parseYaml(text: string): PolicyText {
  const { isAlias, isCollection, isNode, isScalar, LineCounter, parseDocument, visit } = yaml();
  const lines = new LineCounter();
  const document = parseDocument(text, {
    uniqueKeys: false, // It would compare each with each.
    logLevel: 'error',
    prettyErrors: false,
    lineCounter: lines,
  });
  const refuse = (message: string, position: number) => {
    const { line, col } = lines.linePos(position);
    throw unreadable(`is neither JSON nor YAML: ${message} (line ${line}, column ${col})`);
  };
  const [error] = document.errors;
  if (error) refuse(TOLD[error.code] ?? error.message.split('\n', 1)[0] ?? '', error.pos[0]);
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
  const written = (node: unknown) => (isAlias(node) ? node.resolve(document) : node);
  const rangeOf = (path: readonly (string | number)[]): Range | undefined => {
    let node = written(document.contents);
    for (const key of path) node = isCollection(node) ? written(node.get(key, true)) : undefined;
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

/** Whether a policy that was found to be right, and is on, has an action of a type in any of its rules. */
export function usesAction(text: string, type: string): boolean {
  const { enabled, ...phases } = readPolicyDocument(text) as { enabled?: boolean; [phase: string]: unknown };
  const rules = Object.values(phases).flat() as { actions: { type: string }[] }[];
  return enabled !== false && rules.some(({ actions }) => actions.some((action) => action.type === type));
}

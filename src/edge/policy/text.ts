// A traffic policy as it is sent: a text in JSON or YAML.

import { LineCounter, parseDocument } from 'yaml';
import { POLICY_LIMITS } from '../../protocol/policy.ts';
import { PolicyError, PROBLEM } from './problems.ts';

/** What a text may be longer than its document: blanks and comments. */
const TEXT_MAX = 2 * POLICY_LIMITS.document;
/** How often YAML may repeat a part by name: enough for people, too little for a bomb. */
const ALIASES_MAX = 100;

/**
 * Reads a text of at most 128 Ki characters.
 * @returns the document, which may be anything that JSON or YAML can say.
 * @throws {PolicyError} when it is neither, with the line and the column.
 */
export function readPolicyText(text: string): unknown {
  if (text.length > TEXT_MAX) throw unreadable(`must have at most ${TEXT_MAX} characters`);
  try {
    return JSON.parse(text);
  } catch {
    // It may be YAML.
  }
  const lines = new LineCounter();
  const document = parseDocument(text, {
    uniqueKeys: true,
    logLevel: 'error',
    prettyErrors: false,
    lineCounter: lines,
  });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw unreadable(`is neither JSON nor YAML: ${error.message.split('\n', 1)[0]} (line ${line}, column ${col})`);
  }
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (error) {
    throw unreadable(`cannot be read: ${(error as Error).message.split('\n', 1)[0]}`);
  }
}

function unreadable(message: string): PolicyError {
  return new PolicyError([{ path: '', number: PROBLEM.document, message }]);
}

/** Whether a policy that was found to be right, and is on, has an action of a type in any of its rules. */
export function usesAction(text: string, type: string): boolean {
  const { enabled, ...phases } = readPolicyText(text) as { enabled?: boolean; [phase: string]: unknown };
  const rules = Object.values(phases).flat() as { actions: { type: string }[] }[];
  return enabled !== false && rules.some(({ actions }) => actions.some((action) => action.type === type));
}

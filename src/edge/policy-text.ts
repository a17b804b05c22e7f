// A traffic policy as agents send it: a text in JSON or YAML.

import { parse as parseYaml } from 'yaml';
import { checkPolicy, POLICY_LIMITS } from '../protocol/policy.ts';
import { AgentError } from '../tunnel/agent-errors.ts';
import type { Proto } from '../tunnel/endpoint.ts';

/** What a text may be longer than its document: blanks and comments. */
const TEXT_MAX = 2 * POLICY_LIMITS.document;
/** How often YAML may repeat a part by name: enough for people, too little for a bomb. */
const ALIASES_MAX = 100;

/**
 * Checks that a policy is well formed. What it says is not acted on yet.
 * @throws {AgentError} naming everything that is wrong with it.
 */
export function checkPolicyText(text: string, proto: Proto): void {
  if (text.length > TEXT_MAX) throw new AgentError('badPolicy', { reason: `it has more than ${TEXT_MAX} characters` });
  const problems = checkPolicy(parse(text), proto);
  const [first] = problems;
  if (!first) return;
  const told = problems.map(({ path, message }) => `${path || 'the document'} ${message}`).join('; ');
  throw new AgentError('badPolicy', { reason: told }, first.number);
}

/** JSON is YAML, but for its own parser, which is faster and knows no aliases, where it will do. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // It may be YAML.
  }
  try {
    return parseYaml(text, { maxAliasCount: ALIASES_MAX, uniqueKeys: true, logLevel: 'error' });
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    throw new AgentError('badPolicy', { reason: `it is neither JSON nor YAML: ${reason}` });
  }
}

// A traffic policy as agents send it, checked for its shape.

import { checkPolicy } from '../protocol/policy.ts';
import { AgentError } from '../tunnel/agent-errors.ts';
import type { Proto } from '../tunnel/endpoint.ts';
import { PolicyError } from './policy/problems.ts';
import { readPolicyText } from './policy/text.ts';

/**
 * Checks that a policy is well formed. What it says is not acted on yet.
 * @throws {AgentError} naming everything that is wrong with it.
 */
export function checkPolicyText(text: string, proto: Proto): void {
  try {
    const problems = checkPolicy(readPolicyText(text), proto);
    if (problems.length > 0) throw new PolicyError(problems);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    throw new AgentError('badPolicy', { reason: error.message }, error.number);
  }
}

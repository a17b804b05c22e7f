// A traffic policy made ready to run: what is wrong with it is found here, and not when visitors come.

import { checkPolicy, phaseMeant } from '../../protocol/policy.ts';
import type { Phase } from '../cel/vocabulary.ts';
import type { ConnectionModule, HttpModule, ModuleEnvironment, ModuleOwner } from '../module.ts';
import { connectionModule, httpModule } from './modules.ts';
import { PolicyError, Problems } from './problems.ts';
import { compileRules, type RuleSource } from './rules.ts';
import type { PolicyRules } from './run.ts';
import { readPolicyText } from './text.ts';

/** A policy as modules; a phase without rules costs nothing. */
export interface CompiledPolicy {
  /** Undefined without rules for requests or answers, or with `enabled: false`. */
  http: HttpModule | undefined;
  /** Undefined without rules for connections, or with `enabled: false`. */
  connection: ConnectionModule | undefined;
}

/**
 * Compiles a policy in JSON or YAML.
 * @throws {PolicyError} naming up to 20 things that are wrong with it.
 */
export function policyOf(text: string, owner: ModuleOwner, environment: ModuleEnvironment): CompiledPolicy {
  return compilePolicy(readPolicyText(text), owner, environment);
}

/**
 * Compiles a parsed document.
 * @throws {PolicyError} naming up to 20 things that are wrong with it.
 */
export function compilePolicy(document: unknown, owner: ModuleOwner, environment: ModuleEnvironment): CompiledPolicy {
  const rules = compileDocument(document, owner, environment);
  return { http: httpModule(rules, environment), connection: connectionModule(rules, environment) };
}

/**
 * Compiles the rules of a parsed document. With `enabled: false` there are none, but what is wrong is found all the same.
 * @throws {PolicyError} naming up to 20 things that are wrong with it.
 */
export function compileDocument(document: unknown, owner: ModuleOwner, environment: ModuleEnvironment): PolicyRules {
  const misshapen = checkPolicy(document, owner.proto);
  if (misshapen.length > 0) throw new PolicyError(misshapen);
  const { enabled = true, ...phases } = document as { enabled?: boolean } & Record<PhaseKey, RuleSource[]>;
  const problems = new Problems();
  const rules: PolicyRules = {};
  for (const [key, sources] of Object.entries(phases)) {
    const phase = phaseMeant(key as PhaseKey, owner.proto) as Phase;
    if (sources.length > 0) rules[phase] = compileRules(sources, key, phase, { owner, environment, problems });
  }
  if (problems.list.length > 0) throw new PolicyError(problems.list);
  return enabled ? rules : {};
}

/** Phases by all of their names. */
type PhaseKey = Parameters<typeof phaseMeant>[0];

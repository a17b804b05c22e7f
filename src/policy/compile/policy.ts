// A traffic policy made ready to run: what is wrong with it is found here, and not when visitors come.

import type { ConnectionModule, HttpModule, ModuleEnvironment, ModuleOwner } from '../../http/module.ts';
import { checkPolicy, effectivePhase } from '../../protocol/policy/policy-shape.ts';
import { compileOnce } from '../cel/compilation.ts';
import type { PolicyPhase } from '../cel/vocabulary.ts';
import type { CompiledRules } from '../run/phase-run.ts';
import { connectionModule, httpModule } from '../run/policy-modules.ts';
import { readPolicyDocument } from '../settings/policy-text.ts';
import { PolicyError, Problems } from '../settings/problems.ts';
import { compileRules, type RuleSource } from './rules.ts';

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
export function compilePolicyText(text: string, owner: ModuleOwner, environment: ModuleEnvironment): CompiledPolicy {
  return modulesOf(compilePolicyRules(text, owner, environment), environment);
}

/**
 * Compiles a parsed document.
 * @throws {PolicyError} naming up to 20 things that are wrong with it.
 */
export function compilePolicyDocument(
  document: unknown,
  owner: ModuleOwner,
  environment: ModuleEnvironment,
): CompiledPolicy {
  return modulesOf(compileChecked(checked(document, owner.proto), owner, environment), environment);
}

function modulesOf(rules: CompiledRules, environment: ModuleEnvironment): CompiledPolicy {
  return { http: httpModule(rules, environment), connection: connectionModule(rules, environment) };
}

/**
 * Compiles the rules of a policy in JSON or YAML. With `enabled: false` there are none, but what is wrong is found all the same.
 * @throws {PolicyError} naming up to 20 things that are wrong with it.
 */
export function compilePolicyRules(text: string, owner: ModuleOwner, environment: ModuleEnvironment): CompiledRules {
  const document = compileOnce(KINDS[owner.proto], text, () => checked(readPolicyDocument(text), owner.proto));
  return compileChecked(document, owner, environment);
}

type Document = { enabled?: boolean } & Record<PhaseKey, RuleSource[]>;

/** What tells apart the same text for several protocols. */
const KINDS = { http: {}, https: {}, tcp: {}, tls: {} };

function checked(document: unknown, proto: ModuleOwner['proto']): Document {
  const misshapen = checkPolicy(document, proto);
  if (misshapen.length > 0) throw new PolicyError(misshapen);
  return document as Document;
}

function compileChecked(document: Document, owner: ModuleOwner, environment: ModuleEnvironment): CompiledRules {
  const { enabled = true, ...phases } = document;
  const problems = new Problems();
  const rules: CompiledRules = {};
  for (const [key, sources] of Object.entries(phases)) {
    const phase = effectivePhase(key as PhaseKey, owner.proto) as PolicyPhase;
    if (sources.length > 0) rules[phase] = compileRules(sources, key, phase, { owner, environment, problems });
  }
  if (problems.list.length > 0) throw new PolicyError(problems.list);
  return enabled ? rules : {};
}

/** Phases by all of their names. */
type PhaseKey = Parameters<typeof effectivePhase>[0];

// Compiles traffic policies. All mistakes are found here, and not at the first request.

import type { ConnectionModule, HttpModule, ModuleEnvironment, ModuleOwner } from '../../http/module.ts';
import { checkPolicy, effectivePhase } from '../../protocol/policy/policy-shape.ts';
import { compileOnce } from '../cel/compilation.ts';
import type { PolicyPhase } from '../cel/vocabulary.ts';
import type { CompiledRules, PolicyRule } from '../run/phase-run.ts';
import { connectionModule, httpModule } from '../run/policy-modules.ts';
import type { PolicyWarning } from '../settings/action-kind.ts';
import type { CookieDomainUse, IssuerUse, SecretUse } from '../settings/phase-context.ts';
import { readPolicyDocument } from '../settings/policy-text.ts';
import { PolicyError, PROBLEM, PROBLEMS_MAX, Problems } from '../settings/problems.ts';
import { compileRules, type RuleSource } from './rules.ts';

/** A compiled policy as modules. A phase without rules has none, so that it costs nothing. */
export interface CompiledPolicy {
  /** Undefined without rules for requests or responses, or with `enabled: false`. */
  http: HttpModule | undefined;
  /** Undefined without rules for connections, or with `enabled: false`. */
  connection: ConnectionModule | undefined;
  /** The secrets that it reads, whether it is enabled or not. */
  secrets: readonly SecretUse[];
  /** The issuers at which it lets visitors sign in, if it is enabled. */
  issuers: readonly IssuerUse[];
  /** The domains whose hosts share visitors' sessions, if it is enabled. */
  cookieDomains: readonly CookieDomainUse[];
}

/**
 * Compiles a policy in JSON or YAML.
 * @throws {PolicyError} with up to 20 mistakes.
 */
export function compilePolicyText(text: string, owner: ModuleOwner, environment: ModuleEnvironment): CompiledPolicy {
  return modulesOf(compileText(text, owner, environment), owner, environment);
}

/**
 * Compiles a parsed document.
 * @throws {PolicyError} with up to 20 mistakes.
 */
export function compilePolicyDocument(
  document: unknown,
  owner: ModuleOwner,
  environment: ModuleEnvironment,
): CompiledPolicy {
  return modulesOf(compileChecked(validateShape(document, owner.proto), owner, environment), owner, environment);
}

function modulesOf(
  { rules, secrets }: Compilation,
  owner: ModuleOwner,
  environment: ModuleEnvironment,
): CompiledPolicy {
  const steps = (rules.on_http_request ?? []).flatMap((rule) => rule.steps);
  const issuers = steps.flatMap(({ action: { issuer }, path }) =>
    issuer ? [{ issuer, path: `${path}.config.issuer_url` }] : [],
  );
  const cookieDomains = steps.flatMap(({ action: { cookieDomain: domain }, path }) =>
    domain ? [{ domain, path: `${path}.config.auth_cookie_domain` }] : [],
  );
  for (const warning of warningsOf(rules)) environment.warn?.(owner, warning);
  const modules = { http: httpModule(rules, environment), connection: connectionModule(rules, environment) };
  return { ...modules, secrets, issuers, cookieDomains };
}

/** What is allowed in rules, and hardly meant; up to 20 things. */
export function warningsOf(rules: CompiledRules): PolicyWarning[] {
  const steps = Object.values(rules).flatMap((phase) => phase.flatMap((rule) => rule.steps));
  const all = steps.flatMap(({ action: { warnings = [] }, path: at }) =>
    warnings.map(({ path, message }) => ({ path: `${at}.config.${path}`, message })),
  );
  return all.slice(0, PROBLEMS_MAX);
}

/**
 * Compiles the rules of a policy in JSON or YAML. With `enabled: false` the result has no rules, but mistakes are still
 * reported.
 * @throws {PolicyError} with up to 20 mistakes.
 */
export function compilePolicyRules(text: string, owner: ModuleOwner, environment: ModuleEnvironment): CompiledRules {
  return compileText(text, owner, environment).rules;
}

interface Compilation {
  rules: CompiledRules;
  secrets: SecretUse[];
}

function compileText(text: string, owner: ModuleOwner, environment: ModuleEnvironment): Compilation {
  const document = compileOnce(KINDS[owner.proto], text, () => validateShape(readPolicyDocument(text), owner.proto));
  return compileChecked(document, owner, environment);
}

type Document = { enabled?: boolean } & Record<PhaseKey, RuleSource[]>;

/** The cache keys of a protocol, as the same text compiles differently for each. */
const KINDS = { http: {}, https: {}, tcp: {}, tls: {} };

function validateShape(document: unknown, proto: ModuleOwner['proto']): Document {
  const misshapen = checkPolicy(document, proto);
  if (misshapen.length > 0) throw new PolicyError(misshapen);
  return document as Document;
}

function compileChecked(document: Document, owner: ModuleOwner, environment: ModuleEnvironment): Compilation {
  const { enabled = true, ...phases } = document;
  const problems = new Problems();
  const secrets: SecretUse[] = [];
  const rules: CompiledRules = {};
  for (const [key, sources] of Object.entries(phases)) {
    const phase = effectivePhase(key as PhaseKey, owner.proto) as PolicyPhase;
    if (sources.length > 0) rules[phase] = compileRules(sources, key, phase, { owner, environment, problems, secrets });
  }
  reportSecondSignIn(Object.values(rules).flat(), problems);
  if (problems.list.length > 0) throw new PolicyError(problems.list);
  return { rules: enabled ? rules : {}, secrets };
}

/** Two sign-in actions would have the same paths for logging in and out, and visitors would not know at which provider. */
function reportSecondSignIn(rules: readonly PolicyRule[], problems: Problems): void {
  const [, second] = rules.flatMap(({ steps }) => steps.filter(({ action }) => action.answerOwnPath));
  if (second)
    problems.report(second.path, PROBLEM.secondSignIn, 'is the second sign-in action: a policy has one at most');
}

/** The names of phases, including the older ones. */
type PhaseKey = Parameters<typeof effectivePhase>[0];

// What is known, and collected, while the rules of a phase are compiled.

import type { ModuleEnvironment, ModuleOwner } from '../../http/module.ts';
import type { SecretName } from '../cel/secret-names.ts';
import type { PolicyPhase, Vocabulary } from '../cel/vocabulary.ts';
import type { Problems } from './problems.ts';

/** A secret that a policy reads, and where in the policy. */
export interface SecretUse extends SecretName {
  /** As in `on_http_request[0].expressions[1]`. */
  path: string;
}

/** A domain whose hosts share visitors' sessions by a policy, and where it says so. */
export interface CookieDomainUse {
  domain: string;
  path: string;
}

/** An OpenID Connect issuer that a policy names, and where. */
export interface IssuerUse {
  issuer: string;
  path: string;
}

/** The context that all configs of a phase share. */
export interface PhaseContext {
  phase: PolicyPhase;
  owner: ModuleOwner;
  environment: ModuleEnvironment;
  vocabulary: Vocabulary;
  problems: Problems;
  /** The variables that expressions and templates read. The readers add to them. */
  variables: Set<string>;
  /** The secrets that they read, likewise. */
  secrets: SecretUse[];
}

/** Collects what a compiled expression or template reads. @param path its place in the policy. */
export function collectUses<T extends { variables: ReadonlySet<string>; secrets?: readonly SecretName[] }>(
  { variables, secrets }: Pick<PhaseContext, 'variables' | 'secrets'>,
  path: string,
  compiled: T,
): T {
  for (const name of compiled.variables) variables.add(name);
  for (const secret of compiled.secrets ?? []) secrets.push({ ...secret, path });
  return compiled;
}

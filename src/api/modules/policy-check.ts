// Traffic policies are compiled when they are uploaded, so that nothing is found to be wrong with them at traffic time.

import type { StoredPolicy } from '../../edge/modules/traffic-policy.ts';
import { trafficPolicyModule } from '../../edge/modules/traffic-policy.ts';
import type { ModuleEnvironment } from '../../http/module.ts';
import { refuseOutbound } from '../../http/outbound.ts';
import { hostsOfPolicies } from '../../net/reachable-hosts.ts';
import { compileOnce } from '../../policy/cel/compilation.ts';
import { CompileQueueFull } from '../../policy/compile/compile-queue.ts';
import { refuseKeyFetch } from '../../policy/keys/key-cache.ts';
import { keepSecrets, splitPolicy } from '../../policy/secrets/policy-secrets.ts';
import type { CookieDomainUse, IssuerUse, SecretUse } from '../../policy/settings/phase-context.ts';
import { PolicyError, PROBLEM, PROBLEMS_MAX } from '../../policy/settings/problems.ts';
import { SECRET_MASK } from '../../protocol/policy/policy-secrets.ts';
import type { PolicyProblem } from '../../protocol/policy/policy-shape.ts';
import type { Db } from '../../store/database/client.ts';
import { hasReservationCovering } from '../../store/domains/reservations.ts';
import type { SecretOwner } from '../../store/edges/module-secrets.ts';
import { maskedPolicy, openSecrets, sealPolicy } from '../../store/edges/policy-secrets.ts';
import { Prisma } from '../../store/generated/prisma/client.ts';
import { ApiError, type ErrorName } from '../errors/errors.ts';
import { type IssuerChecks, namesIssuer } from '../issuer-checks.ts';
import type { ModuleHost, ModuleWrite } from './module.ts';

/** Nothing is run here: a policy is made, and thrown away. */
const environmentForChecks: Omit<ModuleEnvironment, 'policyHosts'> = {
  now: () => 0,
  time: () => 0,
  note: () => undefined,
  internal: () => undefined,
  signingKey: refuseKeyFetch,
  sendOutbound: refuseOutbound,
  secrets: { of: () => new Map() },
};

/** The problems that have an error of their own. */
const ERRORS: Record<number, ErrorName> = {
  [PROBLEM.masked]: 'secretMasked',
  [PROBLEM.unknownSecret]: 'vaultSecretMissing',
};

/** What tells apart policies of the same text for several protocols. */
const COMPILATION_KEYS = { https: {}, tls: {}, tcp: {} };

/**
 * The module as the database takes it. Secrets for which the document has a mask are those of the policy that it replaces.
 * @param memberAt which member is to blame for what is wrong at a path of the document.
 * @throws {ApiError} that names all that is wrong, under the number of what comes first.
 */
export async function checkTrafficPolicy(
  host: ModuleHost,
  { enabled, value }: { enabled: boolean; value: string },
  { context, db, id }: ModuleWrite,
  memberAt: (path: string) => string,
): Promise<StoredPolicy> {
  const { accountId, app } = context;
  const owner: SecretOwner = { table: host.table, id, accountId };
  const proto = host.protocol;
  const replaced = hasMasks(value) ? await rowWithPolicy(db, owner, Prisma.sql`FOR UPDATE`) : undefined;
  const replacedSecrets = replaced?.policy ? openSecrets(app.keys, owner, replaced.policy) : [];
  try {
    const { compilePolicyDocument } = await import('../../policy/compile/policy.ts');
    const policyHosts = hostsOfPolicies(app.config);
    const environment = { ...environmentForChecks, policyHosts, sharedDomains: app.config.sharedDomains };
    const work = () => {
      const sent = compileOnce(COMPILATION_KEYS[proto], value, () => splitPolicy(value, proto));
      const split = keepSecrets(sent, replacedSecrets, proto);
      return { split, ...compilePolicyDocument(split.document, { accountId, proto }, environment) };
    };
    // The transaction that writes it waits for it.
    const { split, connection, secrets, issuers, cookieDomains } = await app.policies.compile(
      accountId,
      value,
      work,
      false,
    );
    if (connection && proto === 'https') throw new PolicyError([noConnections]);
    await checkSecrets(db, accountId, secrets);
    await checkCookieDomains(db, accountId, app.config.baseDomain, cookieDomains);
    if (enabled && issuers.length > 0) await checkIssuers(db, owner, context.issuers, issuers);
    return sealPolicy(app.keys, owner, enabled, split);
  } catch (error) {
    if (error instanceof CompileQueueFull) throw new ApiError('tooManyPolicies');
    if (!(error instanceof PolicyError)) throw error;
    const member = memberAt(error.problems[0]?.path ?? '');
    const parameters = { member, number: error.number, problems: error.message };
    throw new ApiError(ERRORS[error.number] ?? 'badPolicy', parameters);
  }
}

/** @throws {PolicyError} that names the secrets which the account does not have, up to 20 of them. */
async function checkSecrets(db: Db, accountId: string, uses: readonly SecretUse[]): Promise<void> {
  if (uses.length === 0) return;
  const names = [...new Set(uses.map(({ name }) => name))];
  const select = { name: true, vault: { select: { name: true } } } as const;
  const rows = await db.secret.findMany({ where: { accountId, name: { in: names } }, select });
  const missing = uses.filter(({ vault, name }) => !rows.some((row) => row.name === name && row.vault.name === vault));
  const problems = missing.map(({ path, vault, name }) => ({
    path,
    number: PROBLEM.unknownSecret,
    message: `reads a secret "${name}" in a vault "${vault}", which this account does not have`,
  }));
  if (problems.length > 0) throw new PolicyError(problems.slice(0, PROBLEMS_MAX));
}

/** @throws {PolicyError} that names the domains below which others may have names. */
async function checkCookieDomains(
  db: Db,
  accountId: string,
  baseDomain: string,
  uses: readonly CookieDomainUse[],
): Promise<void> {
  const problems: PolicyProblem[] = [];
  for (const { domain, path } of uses)
    if (!(await hasReservationCovering(db, accountId, domain, baseDomain)))
      problems.push({ path, number: PROBLEM.cookieDomain, message: NOT_RESERVED });
  if (problems.length > 0) throw new PolicyError(problems);
}

const NOT_RESERVED =
  'must be a reserved domain of this account, or below one: of another, somebody else may have names, and would be sent the cookie';

/**
 * Those that the replaced policy names are not asked again: whoever changes a rule must not need the provider for it.
 * @throws {PolicyError} that names the issuers which cannot be read.
 */
async function checkIssuers(
  db: Db,
  owner: SecretOwner,
  checks: IssuerChecks,
  uses: readonly IssuerUse[],
): Promise<void> {
  const stored = (await rowWithPolicy(db, owner))?.policy;
  const value = stored ? maskedPolicy(owner.table, stored).value : '';
  const problems = uses.flatMap(({ issuer, path }) => {
    const message = namesIssuer(value, issuer) ? undefined : checks.problemOf(issuer);
    return message ? [{ path, number: PROBLEM.issuer, message }] : [];
  });
  if (problems.length > 0) throw new PolicyError(problems);
}

/** Whether there may be masks: characters may be written as escapes. */
const hasMasks = (value: string) => value.includes(SECRET_MASK) || value.includes('\\');

/**
 * The row of a host as far as its policy goes; undefined when the account has no such host.
 * @param lock holds the row until the transaction ends: the policy is the one that is replaced.
 */
export async function rowWithPolicy(
  db: Db,
  { table, id, accountId }: SecretOwner,
  lock = Prisma.empty,
): Promise<{ policy: StoredPolicy | null } | undefined> {
  const [row] = await db.$queryRaw<{ policy: StoredPolicy | null }[]>`
    SELECT modules -> ${trafficPolicyModule.key}::text AS policy FROM ${Prisma.raw(table)} WHERE id = ${id} AND account_id = ${accountId} ${lock}`;
  return row;
}

/** Which route a request takes is known long after its connection was accepted. */
const noConnections = {
  path: 'on_tcp_connect',
  number: 2248,
  message: 'is not for a route, nor for a cloud endpoint that has requests: use on_http_request',
};

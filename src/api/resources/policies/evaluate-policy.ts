// A trial run of a traffic policy: what it would do to a request, rule by rule. Nothing is stored, and nobody is visited.

import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { SecretReader } from '../../../http/module.ts';
import { withoutQueryValues } from '../../../http/path.ts';
import { hostsOfPolicies } from '../../../net/reachable-hosts.ts';
import { CompileQueueFull } from '../../../policy/compile/compile-queue.ts';
import type { DryRunRequest } from '../../../policy/dry-run/dry-run-types.ts';
import { joinPolicy, keepSecrets, type PolicySecret, splitPolicy } from '../../../policy/secrets/policy-secrets.ts';
import { PolicyError } from '../../../policy/settings/problems.ts';
import { SECRET_MASK } from '../../../protocol/policy/policy-secrets.ts';
import type { PolicyProtocol } from '../../../protocol/policy/policy-shape.ts';
import { openSecrets } from '../../../store/edges/policy-secrets.ts';
import { isId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { ONCE_PER_DOCUMENT } from '../../builder/field-cost.ts';
import { checkOwnScope } from '../../builder/root-fields.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { rowWithPolicy } from '../../modules/policy-check.ts';
import type { Route } from '../../route.ts';
import { EndpointProto } from '../tunnels/any-endpoint.ts';
import { PolicyEvaluation } from './policy-evaluation-type.ts';
import { PolicyRequestInput, PolicyResponseInput, requestOf, responseOf } from './sample-request.ts';

/** How often an account may try policies that act, in a minute and at a node. */
const TRIALS_PER_MINUTE_MAX = 60;

const limiter = new RateLimiterMemory({ points: TRIALS_PER_MINUTE_MAX, duration: 60 });

builder.queryField('evaluatePolicy', (t) =>
  t.field({
    type: PolicyEvaluation,
    nullable: true,
    access: { kind: null, ownScope: 'policy:try' },
    weight: ONCE_PER_DOCUMENT,
    description:
      'Runs a traffic policy against a request that you describe, and tells rule by rule what matched and what would be ' +
      'done. Nothing is stored, and no upstream is asked: say with `response` what it would answer. The requests of ' +
      '`http-request` are really sent, as the rules after it depend on their answers, but for those to internal endpoints. Rate limits and ' +
      'circuit breakers begin anew with each run. A policy as it is shown has `<secret>` in place of secrets: to run it, say ' +
      'with `storedIn` whose it is. Each secret of a vault reads `<secret>`, so that no result shows one. A document may have one run. A run that asks servers (for `http-request`, keys of issuers or certificates of ' +
      'webhooks) or uses stored secrets needs the scope `policy:try` of a key with scopes, is told of in the audit trail, and an account ' +
      `has ${TRIALS_PER_MINUTE_MAX} of them a minute at each node.`,
    args: {
      policy: t.arg.string({ required: true, description: 'The policy, in JSON or YAML.' }),
      request: t.arg({ type: PolicyRequestInput, required: true, description: 'The request of a visitor.' }),
      response: t.arg({
        type: PolicyResponseInput,
        description: 'What the upstream answers. Without it, rules for answers see only those of the policy itself.',
      }),
      proto: t.arg({ type: EndpointProto, description: 'What kind of endpoint the policy is for. Default `HTTPS`.' }),
      storedIn: t.arg.id({
        description:
          'The id of the route, TLS edge, TCP edge or cloud endpoint that the policy is to replace the one of. Where the policy has ' +
          '`<secret>`, the secret is the one that is stored there, as if it were uploaded.',
      }),
    },
    resolve: async (_, { policy, request, response, proto, storedIn }, context) => {
      const { accountId, app } = context;
      const owner = { accountId, proto: proto ?? 'https' };
      const kept = storedIn == null ? [] : await secretsStoredIn(storedIn, context);
      const asked = requestOf(request);
      const { dryRun } = await import('../../../policy/dry-run/dry-run.ts');
      let isNoted = false;
      const note = async () => {
        if (!isNoted) await noteTrial(context, asked, storedIn ?? '');
        isNoted = true;
      };
      if (kept.length > 0) await note();
      const answer = response ? responseOf(response) : undefined;
      const compile = <T>(work: () => T) => app.policies.compile(accountId, policy, work).catch(explain);
      const text = kept.length === 0 ? policy : await compile(() => withSecrets(policy, owner.proto, kept));
      return dryRun(text, owner, asked, answer, {
        time: app.now,
        policyHosts: hostsOfPolicies(app.config),
        signingKey: app.signingKey,
        secrets: await maskedSecrets(text, context),
        sendOutbound: app.sendOutbound,
        locate: app.locate,
        mayAsk: note,
        compile: (work) => app.policies.compile(accountId, text, work).catch(explain),
      });
    },
  }),
);

/**
 * Keeps who tries a policy that acts. Of the request it keeps no more than logs do.
 * @throws {ApiError} when the caller's key may not, or the account has done so too often.
 */
async function noteTrial(context: Context, { method = 'GET', url }: DryRunRequest, storedIn: string): Promise<void> {
  checkOwnScope(context, 'policy:try');
  await limiter.consume(context.accountId).catch(({ msBeforeNext }: RateLimiterRes) => {
    throw new ApiError('tooManyPolicyTrials', { max: TRIALS_PER_MINUTE_MAX, seconds: Math.ceil(msBeforeNext / 1000) });
  });
  const after = { method, url: withoutQueryValues(url), stored_in: storedIn === '' ? null : storedIn };
  await context.record({ action: 'POLICY_TRIED', kind: 'trafficPolicy', objectId: storedIn, after });
}

/** @throws {ApiError} when the account has no such route, edge or cloud endpoint. */
async function secretsStoredIn(storedIn: string, { db, accountId, app }: Context): Promise<PolicySecret[]> {
  const id = isId('ep', storedIn) ? await cloudRowOf(db, accountId, storedIn) : storedIn;
  const table = isId('edghtsrt', id) ? 'route' : 'edge';
  const isHost = table === 'route' || ['edgtls', 'edgtcp', 'edgcld'].some((prefix) => isId(prefix, id));
  const host = isHost ? await rowWithPolicy(db, { table, id, accountId }) : undefined;
  const { policy } = requireFound(host, 'route, TLS edge, TCP edge or cloud endpoint');
  return policy ? openSecrets(app.keys, { table, id, accountId }, policy) : [];
}

/** The id of the row that holds the policy of a cloud endpoint; '' where the account has no such one. */
async function cloudRowOf(db: Context['db'], accountId: string, id: string): Promise<string> {
  const where = { id, accountId, type: 'CLOUD' } as const;
  return (await db.endpoint.findFirst({ where, select: { edgeId: true } }))?.edgeId ?? '';
}

/** The secrets of the account as trial runs have them: without their values, which the result could show. */
async function maskedSecrets(policy: string, { db, accountId }: Context): Promise<SecretReader> {
  // Characters may be written as escapes.
  if (!/secrets|\\/.test(policy)) return { of: () => new Map() };
  const select = { name: true, secrets: { select: { name: true } } } as const;
  const rows = await db.vault.findMany({ where: { accountId }, select });
  const masked = (secrets: { name: string }[]) => new Map(secrets.map(({ name }) => [name, SECRET_MASK]));
  const vaults = new Map(rows.map(({ name, secrets }) => [name, masked(secrets)]));
  return { of: () => vaults };
}

/** What is no policy at all is left to the trial run, which says so. */
function withSecrets(policy: string, proto: PolicyProtocol, kept: readonly PolicySecret[]): string {
  try {
    return joinPolicy(keepSecrets(splitPolicy(policy, proto), kept, proto));
  } catch (error) {
    if (error instanceof PolicyError) return policy;
    throw error;
  }
}

function explain(error: unknown): never {
  throw error instanceof CompileQueueFull ? new ApiError('tooManyPolicies') : error;
}

/** There is no REST path for it. */
export const routes: Route[] = [];

// A trial run of a traffic policy: what it would do to a request, rule by rule. Nothing is stored, and nobody is visited.

import { dryRun } from '../../edge/policy/dry-run.ts';
import { builder } from '../builder.ts';
import { PolicyEvaluation } from '../policy-evaluation.ts';
import { PolicyRequestInput, PolicyResponseInput, requestOf, responseOf } from '../policy-trial.ts';
import type { Route } from '../route.ts';

const PolicyProto = builder.enumType('PolicyProto', {
  description: 'What kind of endpoint a policy is for.',
  values: {
    http: { description: 'HTTP without TLS.' },
    https: { description: 'HTTP over TLS, such as a route of an HTTPS edge.' },
    tcp: { description: 'TCP, with a port of its own.' },
    tls: { description: 'TLS, such as a TLS edge.' },
  } as const,
});

builder.queryField('evaluatePolicy', (t) =>
  t.field({
    type: PolicyEvaluation,
    nullable: true,
    description:
      'Runs a traffic policy against a request that you describe, and tells rule by rule what matched and what would be ' +
      'done. Nothing is stored, and no upstream is asked: say with `response` what it would answer. Rate limits and ' +
      'circuit breakers begin anew with each run.',
    args: {
      policy: t.arg.string({ required: true, description: 'The policy, in JSON or YAML.' }),
      request: t.arg({ type: PolicyRequestInput, required: true, description: 'The request of a visitor.' }),
      response: t.arg({
        type: PolicyResponseInput,
        description: 'What the upstream answers. Without it, rules for answers see only those of the policy itself.',
      }),
      proto: t.arg({ type: PolicyProto, description: 'What kind of endpoint the policy is for. Default `https`.' }),
    },
    resolve: (_, { policy, request, response, proto }, { accountId, app }) => {
      const owner = { accountId, proto: proto ?? 'https' };
      const answer = response ? responseOf(response) : undefined;
      return dryRun(policy, owner, requestOf(request), answer, {
        time: app.now,
        isPrivateFetched: app.config.policyFetch === 'any',
      });
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];

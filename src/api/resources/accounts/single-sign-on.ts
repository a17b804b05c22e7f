// Signing in to the dashboard with the operator's OpenID Connect provider. In GraphQL only.

import { builder } from '../../builder/builder.ts';
import { mutation } from '../../collections/mutation.ts';
import type { Context } from '../../context.ts';
import type { OperatorIdentity, SingleSignOn } from '../../dependencies.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { beginSession, completeSignIn, maySignIn } from '../../sign-in/sign-in-steps.ts';
import { SingleSignOnFailed } from '../../sign-in/single-sign-on.ts';
import { operatorOf } from './operators.ts';
import { Viewer } from './viewer.ts';

/** Where the provider sends the browser: a page of the dashboard. */
const CALLBACK_PATH = '/dashboard/sign-in';
const BY = 'single sign-on';
const forPages = 'Only for the dashboard’s own pages, which send `Gateway-Dashboard`, over TLS or on loopback.';

const SingleSignOnAttempt = builder.objectRef<{ url: string; attempt: string }>('SingleSignOnAttempt').implement({
  description: 'A sign-in with the provider for single sign-on that was begun.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Where the user signs in: a page of the provider.' }),
    attempt: t.exposeString('attempt', {
      description: 'What the browser tab keeps meanwhile, for 15 minutes: it binds the answer to this tab.',
    }),
  }),
});

const CompleteSingleSignOnInput = builder.inputType('CompleteSingleSignOnInput', {
  description: 'The answer of the provider.',
  fields: (t) => ({
    attempt: t.string({ required: true, description: 'The `attempt` that the tab has kept.' }),
    query: t.string({
      required: true,
      description: 'The query of the URL that the provider has sent the browser to, without the `?`, as it came.',
    }),
  }),
});

mutation(
  'beginSingleSignOn',
  { gives: ['attempt', 'Where the browser goes, and what is to come back from there.'] },
  (t) =>
    t.field({
      type: SingleSignOnAttempt,
      nullable: true,
      access: 'anyone',
      description: `Begins a sign-in with the provider for single sign-on (\`SSO_ISSUER\`). ${forPages}`,
      resolve: async (_, __, context) => {
        context.client.checkMaySignIn();
        const begun = await tried(context, (provider) => provider.begin(context.uri(CALLBACK_PATH)));
        if (begun instanceof ApiError) throw begun;
        return begun;
      },
    }),
);

mutation('completeSingleSignOn', { gives: ['viewer', 'Who is signed in now.'] }, (t) =>
  t.field({
    type: Viewer,
    nullable: true,
    access: 'anyone',
    description:
      'Completes a sign-in with the provider for single sign-on: begins a browser session of the user that the provider ' +
      `names, who is created first where the groups say so. ${forPages} Failures make further attempts wait, as with \`signIn\`.`,
    args: { input: t.arg({ type: CompleteSingleSignOnInput, required: true, description: 'The answer.' }) },
    resolve: async (_, { input: { attempt, query } }, context) => {
      context.client.checkMaySignIn();
      const { provider, identity } = await redeemed(context, attempt, query);
      const { user, session } = await context.inTransaction(async (within) => {
        const user = await operatorOf(within, identity, provider.settings);
        if (!(await maySignIn(within, user.id))) throw new ApiError('ssoUserInactive');
        return { user, session: await beginSession(within, user, BY) };
      });
      return completeSignIn(context, user, session, BY);
    },
  }),
);

async function redeemed(context: Context, attempt: string, query: string) {
  const { app, client } = context;
  let failure = new ApiError('ssoFailed');
  const redeem = async () => {
    const answer = await tried(context, async (provider) => ({
      provider,
      identity: await provider.redeem(attempt, query),
    }));
    if (!(answer instanceof ApiError)) return answer;
    failure = answer;
    return null;
  };
  const redeemed: { provider: SingleSignOn; identity: OperatorIdentity } | null = await app.signIn.attempts.run(
    null,
    client.ip,
    redeem,
  );
  if (!redeemed) throw failure;
  return redeemed;
}

/** What the provider gives, or what the client is told of its failure, whose reason goes to the log. */
async function tried<T>({ app, client }: Context, work: (provider: SingleSignOn) => Promise<T>): Promise<T | ApiError> {
  const provider = app.signIn.singleSignOn;
  if (!provider) return new ApiError('ssoNotOffered');
  try {
    return await work(provider);
  } catch (error) {
    if (!(error instanceof SingleSignOnFailed)) throw error;
    client.recordSignIn({ outcome: 'failed', by: BY, userId: undefined, reason: error.message });
    return new ApiError(error.error);
  }
}

export const routes: Route[] = [];

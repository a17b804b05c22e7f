// Signing in to the dashboard with a passkey (WebAuthn), without a password. In GraphQL only.

import { findPasskey, recordPasskeyUse, spendChallenge } from '../../../store/sign-in/passkeys.ts';
import { mutation } from '../../collections/mutation.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import {
  askForPasskey,
  credentialIdIn,
  expiryOf,
  type PasskeyChallenge,
  PasskeyNotPassed,
  takeChallenge,
  verifyPasskey,
} from '../../sign-in/passkey-ceremonies.ts';
import {
  beginSession,
  checkMayHavePassword,
  checkSignInAddress,
  completeSignIn,
  maySignIn,
  recordFailedSignIn,
} from '../../sign-in/sign-in-steps.ts';
import { Viewer } from './viewer.ts';

const BY = 'passkey';
const forPages = 'Only for the dashboard’s own pages, which send `Gateway-Dashboard`, over TLS or on loopback.';

mutation(
  'beginPasskeySignIn',
  { gives: ['options', 'What `PublicKeyCredential.parseRequestOptionsFromJSON()` takes.'] },
  (t) =>
    t.field({
      type: 'Json',
      nullable: true,
      access: 'anyone',
      description:
        'Begins a sign-in with a passkey. Answers with what `PublicKeyCredential.parseRequestOptionsFromJSON()` takes; a cookie ' +
        `binds it to this browser, for five minutes. ${forPages}`,
      resolve: (_, __, context) => {
        context.client.checkMaySignIn();
        return askForPasskey(context);
      },
    }),
);

mutation('completePasskeySignIn', { gives: ['viewer', 'Who is signed in now.'] }, (t) =>
  t.field({
    type: Viewer,
    nullable: true,
    access: 'anyone',
    description:
      'Completes a sign-in with a passkey: begins a browser session, whose cookie comes with the answer. No code is needed, as ' +
      'the device has verified the user. Where only one user may have a password (`SSO_PASSWORD_USER`), only that user signs ' +
      `in so. ${forPages} Failures make further attempts wait, as with \`signIn\`.`,
    args: {
      credential: t.arg({
        type: 'Json',
        required: true,
        description: 'What `PublicKeyCredential.toJSON()` gives.',
      }),
    },
    resolve: async (_, { credential }, context) => {
      const { app, client } = context;
      client.checkMaySignIn();
      let failure = new ApiError('passkeyFailed');
      const attempt = () =>
        signIn(context, credential).catch((error) => {
          if (!(error instanceof ApiError)) throw error;
          failure = error;
          return null;
        });
      const begun = await app.signIn.attempts.run(null, client.ip, attempt);
      if (!begun) throw failure;
      return completeSignIn(context, begun.user, begun.session, BY);
    },
  }),
);

/** @throws {ApiError} which is the same for a passkey that is unknown, of a user who is shut out, or has not passed. */
async function signIn(context: Context, answer: unknown) {
  const asked = takeChallenge(context);
  const passkey = await findPasskey(context.db, credentialIdIn(answer));
  if (!passkey) throw refused(context, undefined, 'no active user has such a passkey');
  const { id, owner: user } = passkey;
  const refusedUser = (reason: string) => {
    recordFailedSignIn(context, user, { by: BY, at: 'sign-in' });
    return refused(context, user.id, reason);
  };
  try {
    const counter = await verifyPasskey(context, asked, answer, { userId: user.id, publicKey: passkey.publicKey });
    checkMayHavePassword(context, user.subject);
    await checkSignInAddress(context, user, BY);
    const session = await context.inTransaction(async (within) => {
      await use(within, asked, { id, counter });
      if (!(await maySignIn(within, user.id))) throw new PasskeyNotPassed('the user has been deactivated');
      return beginSession(within, user, BY);
    });
    return { user, session };
  } catch (error) {
    throw error instanceof PasskeyNotPassed ? refusedUser(error.message) : error;
  }
}

/** @throws {ApiError} when the question was answered before. @throws {PasskeyNotPassed} */
async function use(
  { db, app }: Context,
  asked: PasskeyChallenge,
  { id, counter }: { id: string; counter: number },
): Promise<void> {
  if (!(await spendChallenge(db, asked.challenge, expiryOf(asked)))) throw new ApiError('passkeyAttemptOver');
  if (!(await recordPasskeyUse(db, id, counter, app.now())))
    throw new PasskeyNotPassed('it was removed, or its counter went back: there may be a copy of it');
}

function refused({ client }: Context, userId: string | undefined, reason: string): ApiError {
  client.recordSignIn({ outcome: 'failed', by: BY, userId, reason });
  return new ApiError('passkeyFailed');
}

export const routes: Route[] = [];

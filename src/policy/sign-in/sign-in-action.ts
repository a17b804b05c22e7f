// What both sign-in actions make of a visitor: what the rules after them know.

import type { CelInput } from '@bufbuild/cel';
import type { HttpExchange } from '../../http/exchange.ts';
import { visitorErrors } from '../../http/visitor-errors.ts';
import type { SignInFailure, VisitorSession } from '../../http/visitor-sessions.ts';
import type { ActionRun, CompiledAction, ConfigReader } from '../settings/action-kind.ts';
import { admitVisitor, answerOwnPath, passPreflight, type SignIn } from './sign-in.ts';
import type { SignInSettings } from './terms.ts';

/** Whom rules see in a preflight. */
const NOBODY: VisitorSession = {
  ...{ id: '', userId: '', subject: '', name: '', email: '', idToken: '', accessToken: '', refreshToken: '' },
  ...{ accessExpiresAt: undefined, wasChecked: false, usableUntil: 0 },
};

/** How the two actions name what they say of a visitor. */
export interface SignInResults {
  /** The name of the variable: `actions.<name>`. */
  name: string;
  /** The member of the identity that has the id of the session. */
  sessionId: string;
  /** The member that says whether the provider was just asked. */
  wasChecked: string;
  hasIdToken: boolean;
}

/** Compiles a sign-in action. */
export function signInAction(config: ConfigReader, settings: SignInSettings, results: SignInResults): CompiledAction {
  const { visitorSessions: sessions } = config.environment;
  const signInOf = (run: ActionRun): SignIn => ({
    terms: settings.terms(run.bindings),
    sessions,
    onVisitor: (session) => void run.result(results.name, resultOf(session, results)),
    onNobody: (why) =>
      run.result(results.name, {
        session_timed_out: why === 'idle',
        session_max_duration_reached: why === 'expired',
        [results.wasChecked]: false,
      }),
  });
  return {
    isTerminal: false,
    ...(settings.cookieDomain !== undefined && { cookieDomain: settings.cookieDomain }),
    run(run) {
      const exchange = run.exchange as HttpExchange; // `on_http_request` always has an exchange.
      if (!settings.passesPreflights || !passPreflight(exchange.request)) return admitVisitor(exchange, signInOf(run));
      run.result(results.name, resultOf(NOBODY, results));
      return undefined;
    },
    answerOwnPath: (run) => answerOwnPath(run.exchange as HttpExchange, signInOf(run)),
  };
}

function resultOf(session: VisitorSession, results: SignInResults): Record<string, CelInput> {
  const { userId, email, name, subject, accessExpiresAt } = session;
  return {
    identity: { id: userId, email, name, provider_user_id: subject, [results.sessionId]: session.id } as CelInput,
    ...(results.hasIdToken ? { identity_token: session.idToken } : {}),
    access_token: session.accessToken,
    refresh_token: session.refreshToken,
    expires_at: accessExpiresAt === undefined ? '' : new Date(accessExpiresAt).toISOString(),
    session_timed_out: false,
    session_max_duration_reached: false,
    [results.wasChecked]: session.wasChecked,
    ...(session.failure && { error: errorOf(session.failure) }),
  };
}

/** What rules may know of a failure. What the provider has said itself is for the log alone: anybody may have written it. */
function errorOf({ error }: SignInFailure): CelInput {
  const { number, text } = visitorErrors[error];
  return { code: `ERR_GATEWAY_${number}`, message: text } as CelInput;
}

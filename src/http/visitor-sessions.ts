// What the policy actions and modules that sign visitors in ask of whoever has their sessions: another process, where there are workers.

import type { VisitorError } from './visitor-errors.ts';

/** The settings of a sign-in, as they are for one request. Plain data: they travel between processes. */
export interface SignInTerms {
  /** The URL of an OpenID Connect issuer, or the name of an OAuth provider. */
  readonly issuer: string;
  readonly isOAuth: boolean;
  readonly clientId: string;
  /** '' for a public client, which has none. */
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  /** Further parameters of the authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
  /** What tells apart sessions of several sign-ins at one host; '' when left out. */
  readonly authId: string;
  /** The domain of the session's cookie; undefined: it is valid at its host alone. */
  readonly cookieDomain: string | undefined;
  /** How long a session lives, and how long without use; milliseconds. */
  readonly maxMs: number;
  readonly idleMs: number;
  /** After how many milliseconds the provider is asked again who the visitor is; undefined: never. */
  readonly checkMs: number | undefined;
  /** Whether the provider is asked which groups the visitor is in; left out: it is not. */
  readonly asksGroups?: boolean;
}

/** Where a visitor signs in, and from where. */
export interface SignInPlace {
  readonly accountId: string;
  readonly endpointId: string;
  readonly publicUrl: string;
  /** As in `https://app.example.com:8443`: what the visitor has asked. */
  readonly origin: string;
  readonly ip: string;
  readonly userAgent: string;
}

/** A visitor who is signed in. */
export interface VisitorSession {
  /** `apps_…` */
  readonly id: string;
  /** `appu_…` */
  readonly userId: string;
  /** The identifier of the user at the provider. */
  readonly subject: string;
  readonly name: string;
  /** '' unless the provider says that it has verified it. */
  readonly email: string;
  /** Organizations, and teams as `organization/team`, in lower case; left out where the provider was not asked. */
  readonly groups?: readonly string[];
  readonly idToken: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** When the access token expires: the wall clock, in milliseconds; undefined when the provider does not say. */
  readonly accessExpiresAt: number | undefined;
  /** Whether the provider was just asked who the visitor is. */
  readonly wasChecked: boolean;
  /** Why the provider could not be asked when it was time; left out: it could, or it was not. The session goes on as it was. */
  readonly failure?: SignInFailure | undefined;
  /** Until when this may be used without asking again: the wall clock, in milliseconds. */
  readonly usableUntil: number;
}

/** Why there is no session: no such one here, unused for too long, too old, or ended by the provider. */
export type NoSession = 'unknown' | 'idle' | 'expired' | 'revoked';

/** A log-in did not succeed. @see VisitorError for the text that visitors see; `reason` is for the log alone. */
export interface SignInFailure {
  readonly error: VisitorError;
  readonly reason: string;
}

/** Where to send a visitor who is to sign in, and the sealed value of the cookie that binds the log-in to the browser. */
export interface BegunSignIn {
  readonly url: string;
  readonly attempt: string;
}

/** A visitor has signed in. */
export interface FinishedSignIn {
  /** Those that it was begun with. */
  readonly terms: SignInTerms;
  /** The value of the session's cookie. */
  readonly token: string;
  /** In origin-form: where the visitor wanted to go. */
  readonly path: string;
  /** How long the cookie is kept; seconds. */
  readonly maxAge: number;
  /** Which of the attempts it was, by its place in the list. */
  readonly attempt: number;
}

/** The sessions of visitors. Nothing here rejects for what a visitor or a provider did. */
export interface VisitorSessions {
  /** The session of a cookie's token, which this uses. Its tokens are refreshed, and the provider is asked again, when it is time. */
  find(token: string, terms: SignInTerms, place: SignInPlace): Promise<VisitorSession | NoSession>;
  /**
   * Begins a log-in, of which nothing is stored: the attempt is sealed.
   * @param path in origin-form, where the visitor goes after it.
   * @param isForced whether the provider is to ask for the password again.
   */
  begin(terms: SignInTerms, place: SignInPlace, path: string, isForced: boolean): Promise<BegunSignIn | SignInFailure>;
  /**
   * Finishes a log-in in the browser that has begun it. The first arrival of an answer ends its log-in, wherever it comes to, and
   * whether or not the browser is the right one: who got hold of an answer must not be able to use it after that.
   * @param answer what the callback has handed over.
   * @param attempts the sealed values that the browser has.
   */
  finish(answer: string, attempts: readonly string[], place: SignInPlace): Promise<FinishedSignIn | SignInFailure>;
  /** Ends the session of a token. @returns where the provider ends its own session; undefined when it does not say. */
  end(token: string, terms: SignInTerms, place: SignInPlace): Promise<string | undefined>;
  /** @returns those of the sessions that have ended. */
  ended(ids: readonly string[]): Promise<string[]>;
}

/** The sessions, and who tells of their ends. */
export interface VisitorSessionSource extends VisitorSessions {
  /**
   * Calls the listener when sessions have ended before their time, until the returned function is called.
   * @param listener gets their ids; undefined: it is not known which. It must not reject.
   */
  onEnded(listener: (ids: readonly string[] | undefined) => Promise<void>): () => void;
}

/** The sessions as one data plane knows them. */
export interface HeldVisitorSessions extends Pick<VisitorSessions, 'begin' | 'finish' | 'end'> {
  /** As `VisitorSessions` has it. A promise only when it has to ask. */
  find(...args: Parameters<VisitorSessions['find']>): VisitorSession | NoSession | Promise<VisitorSession | NoSession>;
  /** Calls `cut` once when the session ends. @returns what ends that. */
  hold(sessionId: string, cut: () => void): () => void;
}

/** Whether a result says that something failed. */
export function isSignInFailure(result: object): result is SignInFailure {
  return 'error' in result;
}

/**
 * The host of an origin at which a session's cookie is valid, or `.` and the domain.
 * @param origin as in `https://app.example.com:8443`.
 */
export function siteOf({ cookieDomain }: Pick<SignInTerms, 'cookieDomain'>, origin: string): string {
  return cookieDomain === undefined ? new URL(origin).host : `.${cookieDomain}`;
}

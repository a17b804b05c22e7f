// What identity providers of every kind do for a log-in.

import type { SignInTerms } from '../http/visitor-sessions.ts';

/** Who a visitor is, as the provider says. */
export interface ProviderIdentity {
  subject: string;
  name: string;
  /** '' unless the provider says that it has verified it. */
  email: string;
  /** Organizations, and teams as `organization/team`, in lower case; left out where they were not asked for. */
  groups?: string[];
}

/** What a provider has given for a visitor. '' is what it has not given. */
export interface ProviderTokens {
  accessToken: string;
  refreshToken: string;
  idToken: string;
  /** When the access token expires: the wall clock, in milliseconds; undefined when it does not say. */
  accessExpiresAt: number | undefined;
}

/** What binds an answer of the provider to the log-in that it is for. */
export interface LoginChecks {
  /** The value of `state`, as it was sent. */
  state: string;
  nonce: string;
  /** The code verifier of PKCE (RFC 7636). */
  verifier: string;
  /** Where the provider sends the visitor. */
  callbackUrl: string;
}

/** An identity provider. Everything rejects with what its library throws; `signInFailureOf` says what that means. */
export interface Provider {
  /** Where the visitor signs in. @param isForced whether it is to ask for the password again. */
  authorizationUrl(terms: SignInTerms, checks: LoginChecks, isForced: boolean): Promise<string>;
  /** Redeems the code of an answer. @param query of the callback's URL, as it came. */
  redeem(
    terms: SignInTerms,
    checks: LoginChecks,
    query: string,
  ): Promise<{ tokens: ProviderTokens; identity: ProviderIdentity }>;
  /** Redeems a refresh token. What the provider does not give anew stays as it was. */
  refresh(terms: SignInTerms, tokens: ProviderTokens, subject: string): Promise<ProviderTokens>;
  /** Asks who the visitor is; undefined when the provider does not tell by an access token. */
  userInfo(terms: SignInTerms, tokens: ProviderTokens, subject: string): Promise<ProviderIdentity | undefined>;
  /** Where the provider ends its own session; undefined when it has no such place. */
  endSessionUrl(terms: SignInTerms, tokens: ProviderTokens): Promise<string | undefined>;
}

/**
 * The tokens of a provider's answer.
 * @param before what stays where it gives nothing new.
 * @param now the wall clock, in milliseconds.
 * @throws {TokenTooLong}
 */
export function tokensOf(
  answer: { access_token: string; refresh_token?: string; id_token?: string; expires_in?: number },
  before: ProviderTokens | undefined,
  now: number,
): ProviderTokens {
  const { access_token: accessToken, refresh_token: refreshToken, id_token: idToken, expires_in: seconds } = answer;
  for (const token of [accessToken, refreshToken, idToken])
    if (token !== undefined && token.length > TOKEN_MAX)
      throw new TokenTooLong(`a token has more than ${TOKEN_MAX} characters`);
  return {
    accessToken,
    refreshToken: refreshToken ?? before?.refreshToken ?? '',
    idToken: idToken ?? before?.idToken ?? '',
    accessExpiresAt: seconds === undefined ? undefined : now + seconds * 1000,
  };
}

/** The longest token that is kept, in characters. */
const TOKEN_MAX = 16 * 1024;

/** A token of a provider is too long to be kept for each visitor. */
export class TokenTooLong extends Error {
  readonly code = 'TOKEN_TOO_LONG';
}

/** The provider has not said by which id it knows the visitor. */
export class NoUserId extends Error {}

/** An address that a provider has verified; '' when it is none, or is more than one in the eyes of some reader. */
export function verifiedEmail(email: unknown, isVerified: unknown): string {
  if (typeof email !== 'string' || (isVerified !== true && isVerified !== 'true')) return '';
  return email.length <= 254 && /^[^\s\p{Cc}@<>,;"]+@[^\s\p{Cc}@<>,;"]+$/u.test(email) ? email : '';
}

/** The identifier of a user, as a provider has given it. @throws {NoUserId} when it cannot be one. */
export function userIdOf(value: unknown): string {
  if (typeof value === 'string' && /^\P{Cc}{1,255}$/u.test(value)) return value;
  throw new NoUserId('the provider has not said by which id it knows the visitor');
}

/** A text of a provider, short enough to be stored; '' when it is none. */
export function shortText(value: unknown): string {
  return typeof value === 'string' ? value.replace(/\p{Cc}/gu, '').slice(0, 256) : '';
}

// Signing in to the dashboard with the operator's OpenID Connect provider: authorization code with PKCE (OpenID Connect Core 1.0,
// section 3.1; RFC 7636). Nothing of an attempt is stored: it is sealed, and the page of the browser tab that began it keeps it.

import { randomBytes } from 'node:crypto';
import type { Keys } from '../../store/keys/keys.ts';
import { signInFailureOf } from '../../visitor-sign-in/failures.ts';
import type { OpenidProvider, OpenidTerms } from '../../visitor-sign-in/openid-provider.ts';
import type { LoginChecks } from '../../visitor-sign-in/provider.ts';
import type { SingleSignOn } from '../dependencies.ts';
import type { ErrorName } from '../errors/errors.ts';
import type { SingleSignOnSettings } from '../single-sign-on-settings.ts';

/** How long somebody may take at the provider; milliseconds. */
const ATTEMPT_MS = 15 * 60_000;
const ATTEMPT = 'single sign-on attempt';
/** The most groups of a user that are looked at. */
const GROUPS_MAX = 1000;
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,189}$/;

interface Attempt extends LoginChecks {
  /** When it began, in milliseconds of the wall clock. */
  at: number;
}

export interface SingleSignOnDeps {
  keys: Keys;
  provider: Pick<OpenidProvider, 'authorizationUrl' | 'redeem'>;
  /** The wall clock, in milliseconds. */
  now(): number;
}

/** What a failure at the provider is called here; every other one is `ssoFailed`. */
const ERRORS: Record<string, ErrorName> = { signInUnavailable: 'ssoUnavailable', signInDenied: 'ssoDenied' };

/** @param settings of the provider that everybody uses. */
export function createSingleSignOn(
  settings: SingleSignOnSettings,
  { keys, provider, now }: SingleSignOnDeps,
): SingleSignOn {
  const terms: OpenidTerms = { ...settings, parameters: {} };
  const random = () => randomBytes(32).toString('base64url');
  return {
    settings,

    async begin(callbackUrl) {
      const attempt: Attempt = { state: random(), nonce: random(), verifier: random(), callbackUrl, at: now() };
      const url = await provider.authorizationUrl(terms, attempt, false).catch(translate);
      return { url, attempt: keys.seal(JSON.stringify(attempt), ATTEMPT) };
    },

    async redeem(sealed, query) {
      const attempt = opened(keys, sealed);
      if (!attempt || now() - attempt.at > ATTEMPT_MS)
        throw new SingleSignOnFailed('ssoAttemptOver', 'the attempt is none of ours, or too old');
      const { identity, claims } = await provider.redeem(terms, attempt, query).catch(translate);
      return {
        issuer: settings.issuer,
        subject: identity.subject,
        email: (identity.email || (settings.trustsEmail ? addressIn(claims) : '')).toLowerCase(),
        groups: groupsIn(claims, settings.groupsClaim),
      };
    },
  };
}

/** The provider has not signed a user in. */
export class SingleSignOnFailed extends Error {
  readonly error: ErrorName;

  /** @param reason for the log alone: anybody may have written it. */
  constructor(error: ErrorName, reason: string) {
    super(reason);
    this.error = error;
  }
}

function translate(thrown: unknown): never {
  const { error, reason } = signInFailureOf(thrown);
  throw new SingleSignOnFailed(ERRORS[error] ?? 'ssoFailed', reason);
}

function opened(keys: Keys, sealed: string): Attempt | undefined {
  try {
    return JSON.parse(keys.open(sealed, ATTEMPT)) as Attempt;
  } catch {
    return undefined; // Anybody can send anything.
  }
}

function addressIn({ email }: Record<string, unknown>): string {
  return typeof email === 'string' && EMAIL.test(email) ? email : '';
}

/** The groups that a claim lists: texts, or one text. */
function groupsIn(claims: Record<string, unknown>, claim: string): string[] {
  const value = claims[claim];
  const groups = Array.isArray(value) ? value.slice(0, GROUPS_MAX) : [value];
  return groups.filter((group): group is string => typeof group === 'string' && group !== '');
}

// OpenID Connect issuers (Core 1.0, Discovery 1.0), spoken to through openid-client, which checks all that they answer.

import { LRUCache } from 'lru-cache';
import type * as OpenidClient from 'openid-client';
import type { SignInTerms } from '../http/visitor-sessions.ts';
import type { ReachableHosts } from '../net/reachable-hosts.ts';
import { describeIssuer } from '../policy/auth/issuer-description.ts';
import { KeyCache } from '../policy/keys/key-cache.ts';
import { boundedTo } from '../runtime/lru-bound.ts';
import { guardedFetch } from './guarded-fetch.ts';
import {
  type LoginChecks,
  NoUserId,
  type Provider,
  type ProviderIdentity,
  type ProviderTokens,
  shortText,
  tokensOf,
  userIdOf,
  verifiedEmail,
} from './provider.ts';

const ISSUERS_MAX = 1000;
/** When a description is refreshed, when it is no longer used, and how long a failed fetch waits for the next; milliseconds. */
const CACHE_TIMES = { fresh: 15 * 60_000, usable: 60 * 60_000, pause: 5000 };
/** How far the clocks may differ; seconds. */
const SKEW_SECONDS = 60;
/** How far ahead an ID token may say that it was issued; seconds. */
const AHEAD_MAX_SECONDS = 5 * 60;

type Library = typeof OpenidClient;

/** What issuers are asked with. */
export interface OpenidOptions {
  /** What may be reached; any: also plain HTTP on this machine. */
  hosts: ReachableHosts;
  /** The wall clock, and one that never goes back; milliseconds. */
  time(): number;
  monotonic(): number;
}

/** Whom to ask, and what for. */
export type OpenidTerms = Pick<SignInTerms, 'issuer' | 'clientId' | 'clientSecret' | 'scopes' | 'parameters'>;

export class OpenidProvider implements Provider {
  readonly #options: OpenidOptions;
  readonly #descriptions = new LRUCache<string, KeyCache<OpenidClient.ServerMetadata>>(boundedTo(ISSUERS_MAX));

  constructor(options: OpenidOptions) {
    this.#options = options;
  }

  async authorizationUrl(terms: OpenidTerms, checks: LoginChecks, isForced: boolean): Promise<string> {
    const { library, configuration } = await this.#configure(terms);
    const url = library.buildAuthorizationUrl(configuration, {
      ...terms.parameters,
      redirect_uri: checks.callbackUrl,
      scope: terms.scopes.join(' '),
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
      ...(isForced ? { prompt: 'login' } : {}),
    });
    return url.href;
  }

  /** As in `Provider`, with all that the provider says of the user: what the user info says comes first, as it is newer. */
  async redeem(terms: OpenidTerms, checks: LoginChecks, query: string) {
    const { library, configuration } = await this.#configure(terms);
    const answer = await library.authorizationCodeGrant(configuration, new URL(`${checks.callbackUrl}?${query}`), {
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      pkceCodeVerifier: checks.verifier,
      idTokenExpected: true,
    });
    const claims: Record<string, unknown> = this.#checked(answer.claims(), terms) ?? {};
    const tokens = tokensOf(answer, undefined, this.#options.time());
    const subject = userIdOf(claims.sub);
    const told = await this.#userClaims(terms, tokens, subject);
    const claimed = identityOf(subject, claims);
    const identity = told ? merged(claimed, identityOf(subject, told)) : claimed;
    return { tokens, identity, claims: { ...claims, ...told } };
  }

  async refresh(terms: OpenidTerms, tokens: ProviderTokens, subject: string): Promise<ProviderTokens> {
    const { library, configuration } = await this.#configure(terms);
    const answer = await library.refreshTokenGrant(configuration, tokens.refreshToken);
    const claims = this.#checked(answer.claims(), terms);
    // OpenID Connect Core 1.0, section 12.2: an ID token that comes with it is of the same user.
    if (claims && claims.sub !== subject) throw new NoUserId('the refreshed ID token is of another user');
    return tokensOf(answer, tokens, this.#options.time());
  }

  async userInfo(terms: OpenidTerms, tokens: ProviderTokens, subject: string) {
    const claims = await this.#userClaims(terms, tokens, subject);
    return claims && identityOf(subject, claims);
  }

  async endSessionUrl(terms: OpenidTerms, { idToken }: ProviderTokens): Promise<string | undefined> {
    const { library, configuration } = await this.#configure(terms);
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return library.buildEndSessionUrl(configuration, idToken === '' ? {} : { id_token_hint: idToken }).href;
  }

  async #userClaims(
    terms: OpenidTerms,
    { accessToken }: ProviderTokens,
    subject: string,
  ): Promise<Record<string, unknown> | undefined> {
    const { library, configuration } = await this.#configure(terms);
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return undefined;
    return library.fetchUserInfo(configuration, accessToken, subject);
  }

  /**
   * Checks what the library leaves to the client (OpenID Connect Core 1.0, section 3.1.3.7, items 4, 5 and 10).
   * @throws {WrongClaim}
   */
  #checked(claims: OpenidClient.IDToken | undefined, { clientId }: OpenidTerms): OpenidClient.IDToken | undefined {
    if (claims?.azp !== undefined && claims.azp !== clientId)
      throw new WrongClaim('the ID token is for another client');
    if (claims && claims.iat > this.#options.time() / 1000 + AHEAD_MAX_SECONDS)
      throw new WrongClaim('the ID token was issued in the future');
    return claims;
  }

  /**
   * A configuration of its own for each use: it fetches the issuer's keys anew, so that keys that it has changed are found at once.
   */
  async #configure({ issuer, clientId, clientSecret }: OpenidTerms) {
    const library = await import('openid-client');
    const { hosts } = this.#options;
    const description = await this.#description(issuer).get();
    const metadata = { [library.clockTolerance]: SKEW_SECONDS };
    const authentication = authenticationOf(library, description, clientSecret);
    const configuration = new library.Configuration(description, clientId, metadata, authentication);
    configuration[library.customFetch] = guardedFetch(hosts);
    // The signature of an ID token is always checked, although it comes from the issuer itself.
    library.enableNonRepudiationChecks(configuration);
    if (hosts.isAny) library.allowInsecureRequests(configuration); // The guarded fetch still wants this machine for it.
    return { library, configuration };
  }

  #description(issuer: string): KeyCache<OpenidClient.ServerMetadata> {
    const known = this.#descriptions.get(issuer);
    if (known) return known;
    const { hosts, monotonic } = this.#options;
    const cache = new KeyCache(() => describeIssuer(issuer, hosts), CACHE_TIMES, monotonic);
    this.#descriptions.set(issuer, cache);
    return cache;
  }
}

/** An ID token says what must not be. */
class WrongClaim extends Error {
  readonly code = 'WRONG_CLAIM';
}

function authenticationOf(library: Library, description: OpenidClient.ServerMetadata, secret: string) {
  // Not only where `none` is listed: Keycloak has public clients, and does not say so. One of another account is of no use without its
  // callback, and the provider itself asks confidential ones for their secret.
  if (secret === '') return library.None();
  const methods = description.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic') ? library.ClientSecretBasic(secret) : library.ClientSecretPost(secret);
}

function identityOf(subject: string, claims: Readonly<Record<string, unknown>>): ProviderIdentity {
  const name = shortText(claims.name) || shortText(claims.preferred_username);
  return { subject, name, email: verifiedEmail(claims.email, claims.email_verified) };
}

/** What the user info says comes first: it is newer. */
const merged = (claimed: ProviderIdentity, told: ProviderIdentity): ProviderIdentity => ({
  subject: claimed.subject,
  name: told.name || claimed.name,
  email: told.email || claimed.email,
});

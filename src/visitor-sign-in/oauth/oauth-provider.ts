// OAuth providers (RFC 6749): they give an access token, by which their API says who the visitor is.

import type { CustomFetch } from 'openid-client';
import type { SignInTerms } from '../../http/visitor-sessions.ts';
import { ReachableHosts } from '../../net/reachable-hosts.ts';
import type { StandInServer } from '../../policy/keys/fetch-bytes.ts';
import type { OauthProviderName } from '../../policy/sign-in/oauth-scopes.ts';
import { guardedFetch } from '../guarded-fetch.ts';
import {
  type LoginChecks,
  NoUserId,
  type Provider,
  type ProviderIdentity,
  type ProviderTokens,
  tokensOf,
  userIdOf,
} from '../provider.ts';
import { type FetchDocument, membersOf, type OauthProviderRow } from './provider-row.ts';
import { oauthProviderRows } from './rows.ts';

/** A provider's API did not answer as it must. */
export class ApiRefused extends Error {
  readonly code = 'API_REFUSED';
  readonly status: number;

  constructor(url: string, status: number) {
    super(`${url} answered ${status}`);
    this.status = status;
  }
}

export interface OauthOptions {
  /** The wall clock, in milliseconds. */
  time(): number;
  /** A server that stands in for all providers, in tests. */
  standIn?: StandInServer | undefined;
}

export class OauthProvider implements Provider {
  readonly #time: () => number;
  readonly #fetch: CustomFetch;

  constructor({ time, standIn }: OauthOptions) {
    this.#time = time;
    this.#fetch = conforming(guardedFetch(new ReachableHosts([], standIn !== undefined), standIn));
  }

  async authorizationUrl(terms: SignInTerms, checks: LoginChecks, isForced: boolean): Promise<string> {
    const { library, configuration, row } = await this.#configure(terms);
    const challenge = row.takesPkce && {
      code_challenge: await library.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
    };
    const { callbackUrl, state } = checks;
    const scope = terms.scopes.join(' ');
    const own = { redirect_uri: callbackUrl, scope, state, ...challenge, ...(isForced ? row.forced : {}) };
    return library.buildAuthorizationUrl(configuration, { ...terms.parameters, ...own }).href;
  }

  async redeem(terms: SignInTerms, checks: LoginChecks, query: string) {
    const { library, configuration, row } = await this.#configure(terms);
    const answer = await library.authorizationCodeGrant(configuration, new URL(`${checks.callbackUrl}?${query}`), {
      expectedState: checks.state,
      ...(row.takesPkce ? { pkceCodeVerifier: checks.verifier } : {}),
    });
    const tokens = tokensOf(answer, undefined, this.#time());
    return { tokens, identity: await this.#identity(terms, tokens) };
  }

  async refresh(terms: SignInTerms, tokens: ProviderTokens): Promise<ProviderTokens> {
    const { library, configuration } = await this.#configure(terms);
    return tokensOf(await library.refreshTokenGrant(configuration, tokens.refreshToken), tokens, this.#time());
  }

  async userInfo(terms: SignInTerms, tokens: ProviderTokens, subject: string): Promise<ProviderIdentity> {
    const identity = await this.#identity(terms, tokens);
    if (identity.subject !== subject) throw new NoUserId('the access token is of another user');
    return identity;
  }

  async endSessionUrl(): Promise<undefined> {
    return undefined; // There is nothing of the kind in OAuth.
  }

  async #identity(
    { issuer, clientId, asksGroups }: SignInTerms,
    { accessToken }: ProviderTokens,
  ): Promise<ProviderIdentity> {
    const row = rowOf(issuer);
    const fields = { ...row.apiFields?.(clientId), accept: 'application/json', authorization: `Bearer ${accessToken}` };
    const fetch: FetchDocument = async (url) => {
      const response = await this.#fetch(url, { method: 'GET', headers: fields, body: null, redirect: 'manual' });
      if (response.status !== 200) throw new ApiRefused(url, response.status);
      return response.json();
    };
    const identity = await row.identity(fetch);
    const groups = asksGroups ? { groups: (await row.groups?.(fetch)) ?? [] } : {};
    return { ...identity, ...groups, subject: userIdOf(identity.subject) };
  }

  async #configure({ issuer, clientId, clientSecret }: SignInTerms) {
    const library = await import('openid-client');
    const row = rowOf(issuer);
    const server = {
      ...{ issuer: row.issuer, authorization_endpoint: row.authorizationUrl, token_endpoint: row.tokenUrl },
    };
    const configuration = new library.Configuration(server, clientId, {}, library.ClientSecretPost(clientSecret));
    configuration[library.customFetch] = this.#fetch;
    return { library, configuration, row };
  }
}

const rowOf = (name: string): OauthProviderRow => oauthProviderRows[name as OauthProviderName];

/**
 * Makes token responses what RFC 6749 says: GitHub sends errors with 200, Twitch sends scopes as a list, and some an ID token, which is
 * not asked for, and not needed, as it was never checked.
 */
function conforming(fetch: CustomFetch): CustomFetch {
  return async (url, options) => {
    const response = await fetch(url, options);
    if (options.method !== 'POST' || response.status !== 200) return response;
    const { id_token: _, scope, ...answer } = membersOf(await response.json().catch(() => undefined));
    const status = typeof answer.error === 'string' ? 400 : 200;
    const error =
      answer.error === 'bad_verification_code' || answer.error === 'bad_refresh_token' ? 'invalid_grant' : answer.error;
    const body = { ...answer, ...(status === 400 ? { error } : {}), ...(typeof scope === 'string' ? { scope } : {}) };
    return Response.json(body, { status });
  };
}

// The OAuth providers that the action `oauth` knows, and what each is asked for at least: who the visitor is.

/** The scopes of each provider, as its documentation writes them. */
export const OAUTH_SCOPES = {
  amazon: ['profile'],
  facebook: ['email', 'public_profile'],
  github: ['read:org', 'read:user'],
  gitlab: ['email', 'openid', 'profile'],
  google: ['https://www.googleapis.com/auth/userinfo.email', 'https://www.googleapis.com/auth/userinfo.profile'],
  // LinkedIn gives `r_emailaddress` and `r_liteprofile` to no new apps.
  linkedin: ['email', 'openid', 'profile'],
  microsoft: ['User.Read'],
  twitch: ['user:read:email'],
} as const satisfies Record<string, readonly string[]>;

export type OauthProviderName = keyof typeof OAUTH_SCOPES;

export const oauthProviderNames = Object.keys(OAUTH_SCOPES) as OauthProviderName[];

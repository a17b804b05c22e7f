// What signing in with the operator's OpenID Connect provider needs to be told.

export interface SingleSignOnSettings {
  /** The URL of the provider, as its description names it. */
  issuer: string;
  clientId: string;
  /** '' for a public client. */
  clientSecret: string;
  scopes: string[];
  /** What the button on the sign-in page calls the provider. */
  name: string;
  /** The id of the account whose users sign in with it; undefined: the first one. */
  accountId: string | undefined;
  /** The claim that lists a user's groups. */
  groupsClaim: string;
  /** Who of these groups is an admin, and who of those a member; `*` is everybody. Both empty: only users that exist sign in. */
  adminGroups: string[];
  memberGroups: string[];
  /** Whether an e-mail address counts that the provider does not say it has verified. */
  trustsEmail: boolean;
  /** The e-mail address, in lower case, of the one user who may still sign in with a password; undefined: all may. */
  passwordUser: string | undefined;
}

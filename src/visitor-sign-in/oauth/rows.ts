// The OAuth providers. Those with a user info of OpenID Connect differ by their addresses alone; the others have a file each.

import type { OauthProviderName } from '../../policy/sign-in/oauth-scopes.ts';
import { shortText, verifiedEmail } from '../provider.ts';
import { amazon } from './amazon.ts';
import { facebook } from './facebook.ts';
import { github } from './github.ts';
import { microsoft } from './microsoft.ts';
import { idText, membersOf, type OauthProviderRow } from './provider-row.ts';
import { twitch } from './twitch.ts';

/** Reads a user info as OpenID Connect Core 1.0, section 5.3 has it. */
const userInfoAt =
  (url: string): OauthProviderRow['identity'] =>
  async (fetch) => {
    const user = membersOf(await fetch(url));
    return {
      subject: idText(user.sub),
      name: shortText(user.name),
      email: verifiedEmail(user.email, user.email_verified),
    };
  };

const gitlab: OauthProviderRow = {
  issuer: 'https://gitlab.com',
  authorizationUrl: 'https://gitlab.com/oauth/authorize',
  tokenUrl: 'https://gitlab.com/oauth/token',
  takesPkce: true,
  forced: { prompt: 'login' },
  identity: userInfoAt('https://gitlab.com/oauth/userinfo'),
};

const google: OauthProviderRow = {
  issuer: 'https://accounts.google.com',
  authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  takesPkce: true,
  forced: { prompt: 'select_account' },
  identity: userInfoAt('https://openidconnect.googleapis.com/v1/userinfo'),
};

const linkedin: OauthProviderRow = {
  issuer: 'https://www.linkedin.com/oauth',
  authorizationUrl: 'https://www.linkedin.com/oauth/v2/authorization',
  tokenUrl: 'https://www.linkedin.com/oauth/v2/accessToken',
  takesPkce: false,
  forced: {},
  identity: userInfoAt('https://api.linkedin.com/v2/userinfo'),
};

export const oauthProviderRows: Readonly<Record<OauthProviderName, OauthProviderRow>> = {
  ...{ amazon, facebook, github, gitlab, google, linkedin, microsoft, twitch },
};

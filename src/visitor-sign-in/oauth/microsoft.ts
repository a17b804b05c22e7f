import { shortText, verifiedEmail } from '../provider.ts';
import { idText, membersOf, type OauthProviderRow } from './provider-row.ts';

const LOGIN = 'https://login.microsoftonline.com/common/oauth2/v2.0';

export const microsoft: OauthProviderRow = {
  issuer: 'https://login.microsoftonline.com/common/v2.0',
  authorizationUrl: `${LOGIN}/authorize`,
  tokenUrl: `${LOGIN}/token`,
  takesPkce: true,
  forced: { prompt: 'login' },
  async identity(fetch) {
    const user = membersOf(await fetch('https://graph.microsoft.com/v1.0/me'));
    const name = user.userPrincipalName;
    return {
      subject: idText(user.id),
      name: shortText(user.displayName),
      // Any tenant can write anything into `mail`; of the principal name, it must own the domain. That of a guest is another tenant's.
      email: verifiedEmail(name, typeof name === 'string' && !name.includes('#')),
    };
  },
};

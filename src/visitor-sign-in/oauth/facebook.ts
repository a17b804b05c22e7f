import { shortText, verifiedEmail } from '../provider.ts';
import { idText, membersOf, type OauthProviderRow } from './provider-row.ts';

const VERSION = 'v23.0';

export const facebook: OauthProviderRow = {
  issuer: 'https://www.facebook.com',
  authorizationUrl: `https://www.facebook.com/${VERSION}/dialog/oauth`,
  tokenUrl: `https://graph.facebook.com/${VERSION}/oauth/access_token`,
  takesPkce: true,
  forced: { auth_type: 'reauthenticate' },
  async identity(fetch) {
    const user = membersOf(await fetch(`https://graph.facebook.com/${VERSION}/me?fields=id,name,email`));
    // It leaves out addresses that were not confirmed.
    return { subject: idText(user.id), name: shortText(user.name), email: verifiedEmail(user.email, true) };
  },
};

import { shortText, verifiedEmail } from '../provider.ts';
import { idText, membersOf, type OauthProviderRow } from './provider-row.ts';

export const amazon: OauthProviderRow = {
  issuer: 'https://www.amazon.com',
  authorizationUrl: 'https://www.amazon.com/ap/oa',
  tokenUrl: 'https://api.amazon.com/auth/o2/token',
  takesPkce: true,
  forced: {},
  async identity(fetch) {
    const user = membersOf(await fetch('https://api.amazon.com/user/profile'));
    // It is the address that the account signs in with.
    return { subject: idText(user.user_id), name: shortText(user.name), email: verifiedEmail(user.email, true) };
  },
};

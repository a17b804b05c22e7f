import { shortText, verifiedEmail } from '../provider.ts';
import { type FetchDocument, idText, membersOf, type OauthProviderRow } from './provider-row.ts';

const API = 'https://api.github.com';

export const github: OauthProviderRow = {
  issuer: 'https://github.com/login/oauth',
  authorizationUrl: 'https://github.com/login/oauth/authorize',
  tokenUrl: 'https://github.com/login/oauth/access_token',
  takesPkce: true,
  forced: { prompt: 'select_account' },
  apiFields: () => ({ 'user-agent': 'tunnel-gateway' }), // Its API refuses requests without one.
  async identity(fetch) {
    const user = membersOf(await fetch(`${API}/user`));
    return {
      subject: idText(user.id),
      name: shortText(user.name) || shortText(user.login),
      // Only a verified address can be that of the profile.
      email: (await primaryEmail(fetch)) || verifiedEmail(user.email, true),
    };
  },
};

/** The address that the user has chosen; '' without the scope `user:email`. */
async function primaryEmail(fetch: FetchDocument): Promise<string> {
  const emails = await fetch(`${API}/user/emails`).catch(() => []);
  const primary = (Array.isArray(emails) ? emails : []).map(membersOf).find((one) => one.primary === true);
  return verifiedEmail(primary?.email, primary?.verified);
}

import { shortText, verifiedEmail } from '../provider.ts';
import { idText, membersOf, type OauthProviderRow } from './provider-row.ts';

export const twitch: OauthProviderRow = {
  issuer: 'https://id.twitch.tv/oauth2',
  authorizationUrl: 'https://id.twitch.tv/oauth2/authorize',
  tokenUrl: 'https://id.twitch.tv/oauth2/token',
  takesPkce: true, // It ignores what it does not know.
  forced: { force_verify: 'true' },
  apiFields: (clientId) => ({ 'client-id': clientId }),
  async identity(fetch) {
    const { data } = membersOf(await fetch('https://api.twitch.tv/helix/users'));
    const user = membersOf(Array.isArray(data) ? data[0] : undefined);
    // It gives verified addresses only.
    return { subject: idText(user.id), name: shortText(user.display_name), email: verifiedEmail(user.email, true) };
  },
};

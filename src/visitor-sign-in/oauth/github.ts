import { shortText, verifiedEmail } from '../provider.ts';
import { type FetchDocument, idText, membersOf, type OauthProviderRow } from './provider-row.ts';

const API = 'https://api.github.com';
/** The most that one page of a list has, and how many pages are read: 500 organizations, and as many teams. */
const PAGE = 100;
const PAGES_MAX = 5;

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
  async groups(fetch) {
    const organizations = await everyOne(fetch, `${API}/user/orgs`);
    const teams = await everyOne(fetch, `${API}/user/teams`);
    const names = [
      ...organizations.map(({ login }) => shortText(login)),
      ...teams.map(({ slug, organization }) => `${shortText(membersOf(organization).login)}/${shortText(slug)}`),
    ];
    return names.map((name) => name.toLowerCase());
  },
};

/** The entries of a list that comes in pages. */
async function everyOne(fetch: FetchDocument, url: string): Promise<Readonly<Record<string, unknown>>[]> {
  const entries: unknown[] = [];
  for (let page = 1; page <= PAGES_MAX; page++) {
    const got = await fetch(`${url}?per_page=${PAGE}&page=${page}`);
    entries.push(...(Array.isArray(got) ? got : []));
    if (entries.length < page * PAGE) break;
  }
  return entries.map(membersOf);
}

/** The address that the user has chosen; '' without the scope `user:email`. */
async function primaryEmail(fetch: FetchDocument): Promise<string> {
  const emails = await fetch(`${API}/user/emails`).catch(() => []);
  const primary = (Array.isArray(emails) ? emails : []).map(membersOf).find((one) => one.primary === true);
  return verifiedEmail(primary?.email, primary?.verified);
}

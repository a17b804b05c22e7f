// Visitors sign in at one of the large OAuth providers: the module `oauth`.

import { OAUTH_SCOPES, oauthProviderNames } from '../../policy/sign-in/oauth-scopes.ts';
import { signInReport } from '../../policy/sign-in/sign-in-report.ts';
import type { ModuleDescriptor } from './descriptor.ts';
import { SettingsError } from './settings-error.ts';
import { type OauthSettings, signInModule } from './sign-in.ts';
import { readSignInOption } from './sign-in-option.ts';
import { oauthProblems } from './sign-in-problem.ts';

export const oauthModule: ModuleDescriptor<OauthSettings> = {
  key: 'oauth',
  phase: 'user',
  create(settings, _, environment) {
    const { provider: issuer, teams, organizations, authCheckInterval: checkInterval } = settings;
    const groups = [...teams, ...organizations];
    const provider = { issuer, isOAuth: true, scopes: OAUTH_SCOPES[issuer], checkInterval, groups };
    return { http: signInModule('oauth', settings, provider, environment) };
  },
  report: signInReport, // Of the module oidc and of policies, too.
  mapSecrets: (settings, change) => ({ ...settings, clientSecret: change(settings.clientSecret, '.client_secret') }),
  bindOption: {
    names: ['OAuth'],
    scope: 'http',
    read(options, name) {
      const option = options.fields(name);
      const provider = oauthProviderNames.find((known) => known === option.text('provider'));
      if (!provider) throw new SettingsError(`${name}: provider must be one of ${oauthProviderNames.join(', ')}`);
      const own = { provider, teams: [], organizations: [], authCheckInterval: 0 };
      return readSignInOption(name, option, own, oauthProblems);
    },
  },
};

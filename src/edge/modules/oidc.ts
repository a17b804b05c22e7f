// Visitors sign in at an OpenID Connect provider: the module `oidc`.

import { fetchProblem } from '../../policy/auth/fetch-json.ts';
import type { ModuleDescriptor } from './descriptor.ts';
import { SettingsError } from './settings-error.ts';
import { type OidcSettings, signInModule } from './sign-in.ts';
import { readSignInOption } from './sign-in-option.ts';
import { oidcProblems } from './sign-in-problem.ts';

export const oidcModule: ModuleDescriptor<OidcSettings> = {
  key: 'oidc',
  phase: 'user',
  create(settings, _, environment) {
    const { issuer } = settings;
    const problem = fetchProblem(issuer, environment.policyHosts);
    if (problem) throw new SettingsError(`the issuer of OIDC ${problem}`);
    const provider = { issuer, isOAuth: false, scopes: ['openid'], checkInterval: 0 };
    return { http: signInModule('oidc', settings, provider, environment) };
  },
  mapSecrets: (settings, change) => ({ ...settings, clientSecret: change(settings.clientSecret, '.client_secret') }),
  bindOption: {
    names: ['OIDC'],
    scope: 'http',
    read(options, name) {
      const option = options.fields(name);
      return readSignInOption(name, option, { issuer: option.text('issuer_url') }, oidcProblems);
    },
  },
};

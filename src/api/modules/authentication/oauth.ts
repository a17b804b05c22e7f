// The module `oauth` of a route: visitors sign in at one of the large OAuth providers.

import { oauthModule } from '../../../edge/modules/oauth.ts';
import type { OauthSettings } from '../../../edge/modules/sign-in.ts';
import { oauthProblems } from '../../../edge/modules/sign-in-problem.ts';
import { oauthProviderNames } from '../../../policy/sign-in/oauth-scopes.ts';
import { storedModule } from '../../../store/edges/module-rows.ts';
import { builder } from '../../builder/builder.ts';
import { ApiError } from '../../errors/errors.ts';
import { httpsEdgeRoute } from '../hosts.ts';
import { type ApiModule, storedUnder } from '../module.ts';
import { APP_SELECTION, APP_WEIGHT, OauthProviderInput, OauthProviderShape } from './oauth-provider.ts';
import { ANY_SECRET, clientSecretOf, sealedSignIn, sessionSettings, signInText } from './sign-in.ts';

const text = {
  ...signInText,
  provider: 'Where visitors sign in, with which client, and who of them is let in.',
  authCheckInterval: 'After how many seconds the provider is asked again who the visitor is; 0: not at all.',
};

type ShownOauth = Omit<OauthSettings, 'clientSecret'>;

const Oauth = builder.objectRef<ShownOauth>('Oauth').implement({
  description: 'Visitors sign in at an OAuth provider before they come in.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: text.enabled }),
    provider: t.field({
      type: OauthProviderShape,
      weight: APP_WEIGHT,
      description: text.provider,
      resolve: (settings) => settings,
    }),
    optionsPassthrough: t.exposeBoolean('optionsPassthrough', { description: text.optionsPassthrough }),
    cookiePrefix: t.exposeString('cookiePrefix', { description: text.cookiePrefix }),
    inactivityTimeout: t.expose('inactivityTimeout', { type: 'UInt32', description: text.inactivityTimeout }),
    maximumDuration: t.expose('maximumDuration', { type: 'UInt32', description: text.maximumDuration }),
    authCheckInterval: t.expose('authCheckInterval', { type: 'UInt32', description: text.authCheckInterval }),
  }),
});

const OauthInput = builder.inputType('OauthInput', {
  description: 'Where visitors sign in. At the provider, register the `url` of `signInCallback`.',
  fields: (t) => ({
    enabled: t.boolean({ description: `${text.enabled} Default true.` }),
    provider: t.field({ type: OauthProviderInput, required: true, description: `${text.provider} Exactly one.` }),
    optionsPassthrough: t.boolean({ description: `${text.optionsPassthrough} Default false.` }),
    cookiePrefix: t.string({ description: text.cookiePrefix }),
    inactivityTimeout: t.field({
      type: 'UInt32',
      description: `${text.inactivityTimeout} ${text.inactivityTimeoutInput}`,
    }),
    maximumDuration: t.field({ type: 'UInt32', description: `${text.maximumDuration} ${text.maximumDurationInput}` }),
    authCheckInterval: t.field({
      type: 'UInt32',
      description: `${text.authCheckInterval} Default 0; otherwise from 10 to 2592000.`,
    }),
  }),
});

type Input = typeof OauthInput.$inferInput;

export const oauth: ApiModule<{ modules: unknown }, ShownOauth, Input> = {
  host: httpsEdgeRoute,
  ...storedUnder(oauthModule),
  noun: 'OAuth',
  type: Oauth,
  input: OauthInput,
  selection:
    `enabled provider { ${APP_SELECTION} } optionsPassthrough cookiePrefix ` +
    'inactivityTimeout maximumDuration authCheckInterval',
  read(row) {
    const stored = storedModule(row, oauthModule);
    if (!stored) return null;
    const { clientSecret: _, ...shown } = stored;
    return shown;
  },
  async write(input, writing) {
    const given = oauthProviderNames.filter((name) => input.provider[name] != null);
    const [provider] = given;
    const app = provider && input.provider[provider];
    if (!app || given.length > 1) throw new ApiError('oauthProviderCount', { member: `${writing.member}provider` });
    const { clientId = '', scopes, emailAddresses, emailDomains } = app;
    const ofGithub = input.provider.github;
    const within = { ...writing, member: `${writing.member}provider.${provider}.` };
    const isSame = (replaced: OauthSettings) => replaced.provider === provider && replaced.clientId === clientId;
    const settings: OauthSettings = {
      ...sessionSettings(input),
      ...{ provider, clientId: clientId ?? '', scopes: scopes ?? [] },
      ...{ emailAddresses: emailAddresses ?? [], emailDomains: emailDomains ?? [] },
      ...{ teams: ofGithub?.teams ?? [], organizations: ofGithub?.organizations ?? [] },
      authCheckInterval: input.authCheckInterval ?? 0,
      clientSecret: ANY_SECRET,
    };
    // Without a client there is nothing to keep: that it is missing is said of the settings.
    const secretOf = async () => (clientId ? clientSecretOf(app.clientSecret, oauthModule, isSame, within) : '');
    const problemsOf = (whole: OauthSettings) =>
      oauthProblems(whole).map(({ member, reason }) => ({
        member: member in input ? member : `provider.${provider}.${member}`,
        reason,
      }));
    return sealedSignIn(settings, secretOf, oauthModule, problemsOf, writing);
  },
};

// The OAuth providers in the module `oauth`: one member for each, of which one is set.

import type { OauthSettings } from '../../../edge/modules/sign-in.ts';
import { type OauthProviderName, oauthProviderNames } from '../../../policy/sign-in/oauth-scopes.ts';
import { builder } from '../../builder/builder.ts';
import { WEIGHED_ABOVE } from '../../builder/field-cost.ts';
import { signInText as text } from './sign-in.ts';

const weight = WEIGHED_ABOVE;
/** What the one app that is there weighs. */
export const APP_WEIGHT = 8;

type ShownApp = Omit<OauthSettings, 'clientSecret'>;

const groupText = {
  teams: 'Teams whose members are let in, as `organization/team`.',
  organizations: 'Organizations whose members are let in.',
};
const LISTED = 'Who is in one of the lists is let in; without any, everybody who has signed in.';

const OauthApp = builder.objectRef<ShownApp>('OauthApp').implement({
  description: `An app at an OAuth provider, and who is let in. ${LISTED}`,
  fields: (t) => ({
    clientId: t.exposeString('clientId', { weight, description: text.clientId }),
    clientSecret: t.string({ nullable: true, weight, description: text.clientSecret, resolve: () => null }),
    scopes: t.exposeStringList('scopes', { weight, description: text.scopes }),
    emailAddresses: t.exposeStringList('emailAddresses', { weight, description: text.emailAddresses }),
    emailDomains: t.exposeStringList('emailDomains', { weight, description: text.emailDomains }),
  }),
});

const OauthGithubApp = builder.objectRef<ShownApp>('OauthGithubApp').implement({
  description: `An app at GitHub, and who is let in. ${LISTED}`,
  fields: (t) => ({
    clientId: t.exposeString('clientId', { weight, description: text.clientId }),
    clientSecret: t.string({ nullable: true, weight, description: text.clientSecret, resolve: () => null }),
    scopes: t.exposeStringList('scopes', { weight, description: text.scopes }),
    emailAddresses: t.exposeStringList('emailAddresses', { weight, description: text.emailAddresses }),
    emailDomains: t.exposeStringList('emailDomains', { weight, description: text.emailDomains }),
    teams: t.exposeStringList('teams', { weight, description: groupText.teams }),
    organizations: t.exposeStringList('organizations', { weight, description: groupText.organizations }),
  }),
});

const OauthAppInput = builder.inputType('OauthAppInput', {
  description: `An app that you have registered at an OAuth provider, and who is let in. ${LISTED}`,
  fields: (t) => ({
    clientId: t.string({ description: `${text.clientId} Required: the gateway has no app of its own.` }),
    clientSecret: t.string({ description: text.clientSecretInput }),
    scopes: t.stringList({ description: `${text.scopes} At most 20.` }),
    emailAddresses: t.stringList({ description: `${text.emailAddresses} At most 100.` }),
    emailDomains: t.stringList({ description: `${text.emailDomains} At most 100.` }),
  }),
});

const OauthGithubAppInput = builder.inputType('OauthGithubAppInput', {
  description: `An app that you have registered at GitHub, and who is let in. ${LISTED}`,
  fields: (t) => ({
    clientId: t.string({ description: `${text.clientId} Required: the gateway has no app of its own.` }),
    clientSecret: t.string({ description: text.clientSecretInput }),
    scopes: t.stringList({ description: `${text.scopes} At most 20.` }),
    emailAddresses: t.stringList({ description: `${text.emailAddresses} At most 100.` }),
    emailDomains: t.stringList({ description: `${text.emailDomains} At most 100.` }),
    teams: t.stringList({ description: `${groupText.teams} At most 100.` }),
    organizations: t.stringList({ description: `${groupText.organizations} At most 100.` }),
  }),
});

const describe = (name: OauthProviderName) => `The app at \`${name}\`; null unless visitors sign in there.`;

export const OauthProviderShape = builder.objectRef<ShownApp>('OauthProvider').implement({
  description: 'An OAuth provider: one member is set.',
  fields: (t) =>
    byProvider((name) =>
      t.field({
        type: name === 'github' ? OauthGithubApp : OauthApp,
        nullable: true,
        weight,
        description: describe(name),
        resolve: (settings) => (settings.provider === name ? settings : null),
      }),
    ),
});

export const OauthProviderInput = builder.inputType('OauthProviderInput', {
  description: 'An OAuth provider: one member is to be set.',
  fields: (t) => {
    const app = (name: OauthProviderName) => t.field({ type: OauthAppInput, description: describe(name) });
    const github = t.field({ type: OauthGithubAppInput, description: describe('github') });
    return { ...byProvider(app), github };
  },
});

const APP_MEMBERS = 'clientId clientSecret scopes emailAddresses emailDomains';

/** What REST shows of the providers. */
export const APP_SELECTION = oauthProviderNames
  .map((name) => `${name} { ${APP_MEMBERS}${name === 'github' ? ' teams organizations' : ''} }`)
  .join(' ');

function byProvider<Field>(fieldOf: (name: OauthProviderName) => Field): Record<OauthProviderName, Field> {
  return Object.fromEntries(oauthProviderNames.map((name) => [name, fieldOf(name)])) as Record<
    OauthProviderName,
    Field
  >;
}

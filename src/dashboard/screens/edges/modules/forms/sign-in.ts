// Modules by which visitors sign in.

import { allOf, maxBytes, required, validateUrl } from '../../../../ui/forms/validators.ts';
import { CallbackPanel } from '../callback-panel.tsx';
import {
  flagField,
  listField,
  type ModuleField,
  type ModuleSettings,
  numberField,
  secretField,
  selectField,
  stringList,
  textField,
} from '../field-kinds.tsx';
import type { ModuleForm } from '../module-form.ts';

/** The OAuth providers, as the input names them. */
const PROVIDERS = {
  amazon: 'Amazon',
  facebook: 'Facebook',
  github: 'GitHub',
  gitlab: 'GitLab',
  google: 'Google',
  linkedin: 'LinkedIn',
  microsoft: 'Microsoft',
  twitch: 'Twitch',
};

const CALLBACK = 'That of an app at the provider, with the redirect URI that is shown below.';
const SECRET = 'The secret that the provider has given for this client. Nobody can read it once it is set.';

const client = [
  textField('clientId', {
    label: 'Client id',
    help: CALLBACK,
    initial: '',
    validate: allOf(required('The client id'), maxBytes(512)),
  }),
  secretField('clientSecret', {
    label: 'Client secret',
    help: SECRET,
    storedHelp: `${SECRET} Left empty, it stays as it is while provider and client id are the same.`,
    validate: maxBytes(512),
  }),
  listField('scopes', {
    label: 'Further scopes',
    itemName: 'scope',
    maxLines: 20,
    placeholder: 'email',
    help: 'Those by which the provider says who the visitor is are asked for in any case.',
  }),
];

const listed = { maxLines: 100, validateLine: maxBytes(254) };
const members = [
  listField('emailAddresses', {
    ...listed,
    label: 'E-mail addresses that are let in',
    itemName: 'address',
    placeholder: 'ann@example.com',
    help: 'Whoever is in one of the lists is let in; without any, everybody who has signed in.',
  }),
  listField('emailDomains', {
    ...listed,
    label: 'Domains of e-mail addresses that are let in',
    itemName: 'domain',
    placeholder: 'example.com',
  }),
];
const githubMembers = [
  listField('organizations', {
    ...listed,
    label: 'Organizations that are let in',
    itemName: 'organization',
    placeholder: 'acme',
    help: 'For GitHub alone.',
  }),
  listField('teams', {
    ...listed,
    label: 'Teams that are let in',
    itemName: 'team',
    placeholder: 'acme/developers',
    help: 'For GitHub alone.',
  }),
];

const session = [
  flagField('optionsPassthrough', { label: 'Preflights of CORS pass without a session' }),
  textField('cookiePrefix', {
    label: 'Cookie prefix',
    help: 'What the names of the cookies have in them: letters, digits and dots.',
    initial: '',
    validate: (value) => (/^[a-z0-9.]{0,64}$/i.test(value.trim()) ? null : 'At most 64 letters, digits and dots.'),
  }),
  numberField('inactivityTimeout', {
    label: 'A session ends without use after',
    unit: 'seconds',
    initial: 259_200,
    min: 60,
    max: 31_536_000,
  }),
  numberField('maximumDuration', {
    label: 'A session ends in any case after',
    unit: 'seconds',
    initial: 1_209_600,
    min: 60,
    max: 31_536_000,
  }),
];

const providerField = selectField('provider', {
  label: 'Provider',
  options: Object.entries(PROVIDERS).map(([value, title]) => ({ value, title })),
});
const appFields = [...client, ...members, ...githubMembers];

/** The name of the provider that is set, and the settings of the app there. */
function appIn(settings: ModuleSettings | undefined): { name: string; app: ModuleSettings } | undefined {
  const providers = (settings?.provider ?? {}) as Record<string, ModuleSettings | null | undefined>;
  const name = Object.keys(PROVIDERS).find((known) => providers[known]);
  return name === undefined ? undefined : { name, app: providers[name] as ModuleSettings };
}

/** A field of the app, which the settings have below the name of the provider. */
const ofApp = (field: ModuleField): ModuleField => ({
  ...field,
  initialValue: (settings) => field.initialValue(appIn(settings)?.app),
});

export const signInForms = {
  oidc: {
    title: 'OpenID Connect',
    noun: 'OpenID Connect',
    description: 'Visitors sign in at an OpenID Connect provider before they come in.',
    fields: [
      textField('issuer', {
        label: 'Issuer',
        help: 'The URL of the provider, as its discovery document has it.',
        initial: '',
        validate: allOf(validateUrl, maxBytes(255)),
      }),
      ...client,
      ...session,
    ],
    summary: ({ issuer }) => `sign in at ${issuer}`,
    hasSecrets: () => true,
    Panel: CallbackPanel,
  },
  oauth: {
    title: 'OAuth',
    noun: 'OAuth',
    description: 'Visitors sign in at one of the large OAuth providers before they come in.',
    fields: [
      { ...providerField, initialValue: (settings) => appIn(settings)?.name ?? 'github' },
      ...appFields.map(ofApp),
      ...session,
      numberField('authCheckInterval', {
        label: 'The provider is asked again after',
        unit: 'seconds',
        help: 'Who the visitor is, and so who is let in; 0: not at all.',
        initial: 0,
        max: 2_592_000,
      }),
    ],
    arrange({ provider, ...values }) {
      const own = provider === 'github' ? appFields : [...client, ...members];
      const isOfApp = (name: string) => appFields.some((field) => field.name === name);
      const app = Object.fromEntries(own.map(({ name }) => [name, values[name]]));
      const others = Object.entries(values).filter(([name]) => !isOfApp(name));
      return { provider: { [String(provider)]: app }, ...Object.fromEntries(others) };
    },
    summary(settings) {
      const { name = '', app = {} } = appIn(settings) ?? {};
      const lists = ['emailAddresses', 'emailDomains', 'organizations', 'teams'].flatMap((list) =>
        stringList(app[list]),
      );
      return `sign in at ${PROVIDERS[name as keyof typeof PROVIDERS]}${lists.length > 0 ? ` as ${lists.join(', ')}` : ''}`;
    },
    hasSecrets: () => true,
    Panel: CallbackPanel,
  },
} satisfies Record<string, ModuleForm>;

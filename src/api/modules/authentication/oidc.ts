// The module `oidc` of a route: visitors sign in at an OpenID Connect provider.

import { oidcModule } from '../../../edge/modules/oidc.ts';
import type { OidcSettings } from '../../../edge/modules/sign-in.ts';
import { oidcProblems } from '../../../edge/modules/sign-in-problem.ts';
import { hostsOfPolicies } from '../../../net/reachable-hosts.ts';
import { fetchProblem } from '../../../policy/auth/fetch-json.ts';
import { storedModule } from '../../../store/edges/module-rows.ts';
import { builder } from '../../builder/builder.ts';
import { httpsEdgeRoute } from '../hosts.ts';
import { type ApiModule, storedUnder } from '../module.ts';
import { ANY_SECRET, clientSecretOf, sealedSignIn, sessionSettings, signInText as text } from './sign-in.ts';

const issuerText = 'The URL of the provider, as its discovery document has it.';

type ShownOidc = Omit<OidcSettings, 'clientSecret'> & { clientSecret: null };

const Oidc = builder.objectRef<ShownOidc>('Oidc').implement({
  description: 'Visitors sign in at an OpenID Connect provider before they come in.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: text.enabled }),
    issuer: t.exposeString('issuer', { description: issuerText }),
    clientId: t.exposeString('clientId', { description: text.clientId }),
    clientSecret: t.string({ nullable: true, description: text.clientSecret, resolve: () => null }),
    scopes: t.exposeStringList('scopes', { description: text.scopes }),
    optionsPassthrough: t.exposeBoolean('optionsPassthrough', { description: text.optionsPassthrough }),
    cookiePrefix: t.exposeString('cookiePrefix', { description: text.cookiePrefix }),
    inactivityTimeout: t.expose('inactivityTimeout', { type: 'UInt32', description: text.inactivityTimeout }),
    maximumDuration: t.expose('maximumDuration', { type: 'UInt32', description: text.maximumDuration }),
  }),
});

const OidcInput = builder.inputType('OidcInput', {
  description: 'Where visitors sign in. At the provider, register the `url` of `signInCallback`.',
  fields: (t) => ({
    enabled: t.boolean({ description: `${text.enabled} Default true.` }),
    issuer: t.string({ required: true, description: `${issuerText} At most 255 bytes.` }),
    clientId: t.string({ required: true, description: `${text.clientId} 1 to 512 bytes.` }),
    clientSecret: t.string({
      description: `${text.clientSecretInput} Empty for a public client, which has none. At most 512 bytes.`,
    }),
    scopes: t.stringList({ description: `${text.scopes} At most 20; \`openid\` is always asked for.` }),
    optionsPassthrough: t.boolean({ description: `${text.optionsPassthrough} Default false.` }),
    cookiePrefix: t.string({ description: text.cookiePrefix }),
    inactivityTimeout: t.field({
      type: 'UInt32',
      description: `${text.inactivityTimeout} ${text.inactivityTimeoutInput}`,
    }),
    maximumDuration: t.field({ type: 'UInt32', description: `${text.maximumDuration} ${text.maximumDurationInput}` }),
  }),
});

type Input = typeof OidcInput.$inferInput;

export const oidc: ApiModule<{ modules: unknown }, ShownOidc, Input> = {
  host: httpsEdgeRoute,
  ...storedUnder(oidcModule),
  noun: 'OpenID Connect',
  type: Oidc,
  input: OidcInput,
  selection:
    'enabled issuer clientId clientSecret scopes optionsPassthrough cookiePrefix inactivityTimeout maximumDuration',
  read(row) {
    const stored = storedModule(row, oidcModule);
    return stored ? { ...stored, clientSecret: null } : null;
  },
  async write(input, writing) {
    const { issuer, clientId, scopes } = input;
    const isSame = (replaced: OidcSettings) => replaced.issuer === issuer && replaced.clientId === clientId;
    const settings: OidcSettings = {
      ...sessionSettings(input),
      ...{ issuer, clientId, scopes: scopes ?? [], emailAddresses: [], emailDomains: [] },
      clientSecret: ANY_SECRET,
    };
    const secretOf = () => clientSecretOf(input.clientSecret, oidcModule, isSame, writing);
    const unreachable = fetchProblem(issuer, hostsOfPolicies(writing.context.app.config));
    const problemsOf = (whole: OidcSettings) => {
      const problems = oidcProblems(whole);
      if (!unreachable) return problems;
      return [{ member: 'issuer', reason: unreachable }, ...problems.filter(({ member }) => member !== 'issuer')];
    };
    return sealedSignIn(settings, secretOf, oidcModule, problemsOf, writing);
  },
};

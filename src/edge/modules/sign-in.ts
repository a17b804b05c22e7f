// What the modules `oidc` and `oauth` have in common: visitors sign in at an identity provider, as by the actions of policies, and
// those who are listed come in.

import { createHash } from 'node:crypto';
import type { HttpExchange } from '../../http/exchange.ts';
import type { HttpModule, ModuleEnvironment, Verdict } from '../../http/module.ts';
import type { SignInTerms, VisitorSession } from '../../http/visitor-sessions.ts';
import type { OauthProviderName } from '../../policy/sign-in/oauth-scopes.ts';
import { ownPathOf } from '../../policy/sign-in/requests.ts';
import { admitVisitor, answerOwnPath, passPreflight, type SignIn, varyByCookie } from '../../policy/sign-in/sign-in.ts';
import type { ModuleSettings } from './descriptor.ts';
import { escapedFieldValue, setGatewayHeaders } from './gateway-headers.ts';

export interface SignInModuleSettings extends ModuleSettings {
  clientId: string;
  /** '' for a public client, which has none. */
  clientSecret: string;
  /** Besides those that are asked for in any case. */
  scopes: string[];
  /** Who is let in; everybody who has signed in when this and all other lists are empty. */
  emailAddresses: string[];
  emailDomains: string[];
  /** Whether preflights of CORS pass. */
  optionsPassthrough: boolean;
  /** A part of the names of cookies. */
  cookiePrefix: string;
  /** Seconds. */
  inactivityTimeout: number;
  maximumDuration: number;
}

export interface OidcSettings extends SignInModuleSettings {
  /** The URL of the provider. */
  issuer: string;
}

export interface OauthSettings extends SignInModuleSettings {
  provider: OauthProviderName;
  /** Who is let in, of GitHub's: teams as `organization/team`. */
  teams: string[];
  organizations: string[];
  /** After how many seconds the provider is asked again who the visitor is; 0: never. */
  authCheckInterval: number;
}

/** The provider of a module. */
export interface ModuleProvider extends Pick<SignInTerms, 'issuer' | 'isOAuth'> {
  /** The scopes that are asked for in any case. */
  scopes: readonly string[];
  /** Seconds; 0: the provider is not asked again. */
  checkInterval: number;
  /** Which organizations and teams are let in; undefined where the provider has none. */
  groups?: readonly string[];
}

/** The module of a route or a tunnel. */
export function signInModule(
  name: string,
  settings: Omit<SignInModuleSettings, 'enabled'>,
  provider: ModuleProvider,
  { visitorSessions: sessions }: Pick<ModuleEnvironment, 'visitorSessions'>,
): HttpModule {
  const terms = termsOf(settings, provider);
  const isListed = listedBy(settings, provider.groups);
  const signInFor = (exchange: HttpExchange): SignIn => ({
    terms,
    sessions,
    onVisitor(session): Verdict {
      if (!isListed(session))
        return { kind: 'refuse', error: 'signInNotAdmitted', reason: `the user ${session.userId} is not listed` };
      introduce(exchange, session);
      return undefined;
    },
  });
  return {
    name,
    signsIn: true,
    onRequest(exchange) {
      const { request } = exchange;
      introduce(exchange, undefined);
      if (ownPathOf(request.target) !== undefined) return answerOwnPath(exchange, signInFor(exchange));
      if (settings.optionsPassthrough && passPreflight(request)) return undefined;
      return admitVisitor(exchange, signInFor(exchange));
    },
    onResponse: (exchange) => varyByCookie(exchange, undefined),
  };
}

/**
 * Sessions are those of a client at a provider: routes of one host that have the same share them, others do not disturb them. The names
 * of cookies have a dot here, which those of policies do not have.
 */
function termsOf(settings: Omit<SignInModuleSettings, 'enabled'>, provider: ModuleProvider): SignInTerms {
  const { clientId, clientSecret, cookiePrefix } = settings;
  const { issuer, isOAuth, checkInterval } = provider;
  const asksGroups = (provider.groups ?? []).length > 0;
  const parts = JSON.stringify([issuer, isOAuth, clientId, asksGroups]);
  const digest = createHash('sha256').update(parts).digest('hex').slice(0, 12);
  return {
    ...{ issuer, isOAuth, clientId, clientSecret, asksGroups, parameters: {}, cookieDomain: undefined },
    scopes: [...new Set([...provider.scopes, ...settings.scopes])],
    authId: `${cookiePrefix.replace(/\.+$/, '') || 'module'}.${digest}`,
    maxMs: settings.maximumDuration * 1000,
    idleMs: settings.inactivityTimeout * 1000,
    checkMs: checkInterval === 0 ? undefined : checkInterval * 1000,
  };
}

/** Whoever is in one of the lists is let in; an e-mail address counts only where the provider has verified it. */
function listedBy(
  { emailAddresses, emailDomains }: Pick<SignInModuleSettings, 'emailAddresses' | 'emailDomains'>,
  groups: readonly string[] = [],
): (session: VisitorSession) => boolean {
  const [addresses, domains, members] = [emailAddresses, emailDomains, groups].map(
    (list) => new Set(list.map((entry) => entry.toLowerCase())),
  ) as [Set<string>, Set<string>, Set<string>];
  if (addresses.size + domains.size + members.size === 0) return () => true;
  return (session) => {
    const email = session.email.toLowerCase();
    const domain = email.slice(email.lastIndexOf('@') + 1);
    if (email !== '' && (addresses.has(email) || domains.has(domain))) return true;
    return (session.groups ?? []).some((group) => members.has(group));
  };
}

/** Tells the upstream who the visitor is. @param session undefined: it is not known. */
function introduce({ request: { fields } }: HttpExchange, session: VisitorSession | undefined): void {
  const { userId = '', email = '', name = '' } = session ?? {};
  const lines: [name: string, value: string][] = [
    ['Gateway-Auth-User-Id', userId],
    ['Gateway-Auth-User-Email', escapedFieldValue(email)],
    ['Gateway-Auth-User-Name', escapedFieldValue(name)],
  ];
  const said = lines.filter(([, value]) => value !== '');
  setGatewayHeaders(fields, 'gateway-auth-', said);
}

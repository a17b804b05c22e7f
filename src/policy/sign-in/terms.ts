// Reads the settings that both sign-in actions have.

import type { SignInTerms } from '../../http/visitor-sessions.ts';
import { lazyPackage } from '../../runtime/lazy-package.ts';
import type { Template } from '../cel/template.ts';
import type { Bindings } from '../cel/vocabulary.ts';
import type { ConfigReader } from '../settings/action-kind.ts';
import { PROBLEM } from '../settings/problems.ts';
import { isObject } from '../settings/values.ts';
import { CLIENT_BYTES_MAX, SCOPES_MAX, SESSION_TIMES, scopeProblem } from './limits.ts';

const tldts = lazyPackage<typeof import('tldts')>('tldts');

/** The members that both actions have. */
export const SHARED_MEMBERS = [
  ...['auth_id', 'client_id', 'client_secret', 'scopes', 'authz_url_params', 'max_session_duration'],
  ...['idle_session_timeout', 'userinfo_refresh_interval', 'allow_cors_preflight', 'auth_cookie_domain'],
] as const;

const PARAMETERS_MAX = 20;
/** What the gateway says itself in an authorization request. */
const OWN_PARAMETERS =
  /^(?:response_type|response_mode|client_id|client_secret|redirect_uri|scope|state|nonce|code_challenge.*|request|request_uri)$/;

/** What is said of a provider besides what both actions have. */
export interface ProviderSettings {
  issuer: string;
  isOAuth: boolean;
  /** The scopes that are asked for in any case. */
  scopes: readonly string[];
}

/** The settings of a sign-in action. */
export interface SignInSettings {
  /** Evaluates what is computed for each request. */
  terms(bindings: Bindings): SignInTerms;
  /** Whether preflights of CORS pass. */
  passesPreflights: boolean;
  /** The domain whose hosts share the session; undefined: each has its own. */
  cookieDomain: string | undefined;
}

/** Reads them. @param idleNames the names of the limit without use, the current one first. */
export function readTerms(
  config: ConfigReader,
  provider: ProviderSettings,
  idleNames: readonly string[],
): SignInSettings {
  const authId = config.text('auth_id', { max: 64, default: '' });
  if (!/^[\w-]*$/.test(authId)) config.problem('auth_id', PROBLEM.field, 'may have letters, digits, "_" and "-"');
  const clientId = credential(config, 'client_id');
  const clientSecret = credential(config, 'client_secret');
  const scopes = readScopes(config);
  const parameters = readParameters(config);
  const idleName = idleNames.find((name) => config.has(name)) ?? (idleNames[0] as string);
  for (const name of idleNames) config.raw(name);
  const settings = {
    ...{ issuer: provider.issuer, isOAuth: provider.isOAuth, authId },
    scopes: [...new Set([...provider.scopes, ...scopes])],
    cookieDomain: readCookieDomain(config),
    maxMs: config.duration('max_session_duration', SESSION_TIMES.max),
    idleMs: config.duration(idleName, SESSION_TIMES.idle),
    checkMs: config.has('userinfo_refresh_interval')
      ? config.duration('userinfo_refresh_interval', SESSION_TIMES.check)
      : undefined,
  };
  return {
    passesPreflights: config.flag('allow_cors_preflight', false),
    cookieDomain: settings.cookieDomain,
    terms: (bindings) => ({
      ...settings,
      clientId: clientId.evaluate(bindings),
      clientSecret: clientSecret.evaluate(bindings),
      parameters: Object.fromEntries(parameters.map(([name, value]) => [name, value.evaluate(bindings)])),
    }),
  };
}

function credential(config: ConfigReader, name: string): Template {
  return config.template(name, { max: CLIENT_BYTES_MAX });
}

function readScopes(config: ConfigReader): string[] {
  const scopes = config.texts('scopes', { min: 0, max: SCOPES_MAX });
  for (const [i, scope] of scopes.entries()) {
    const problem = scopeProblem(scope);
    if (problem) config.problem(`scopes[${i}]`, PROBLEM.field, problem);
  }
  return scopes;
}

function readParameters(config: ConfigReader): [name: string, value: Template][] {
  const given = config.raw('authz_url_params');
  if (given === undefined) return [];
  if (!isObject(given) || Object.keys(given).length > PARAMETERS_MAX) {
    config.problem('authz_url_params', PROBLEM.field, `must be an object of at most ${PARAMETERS_MAX} texts`);
    return [];
  }
  return Object.entries(given).map(([name, value]) => {
    const path = `authz_url_params.${name}`;
    if (OWN_PARAMETERS.test(name)) config.problem(path, PROBLEM.reserved, 'is what the gateway says itself');
    return [name, config.compile(path, value)];
  });
}

/**
 * The domain whose hosts share the session. A domain that everybody has hosts in would give the cookie to strangers: a public suffix,
 * or the gateway's own domain, below which each account has names.
 */
function readCookieDomain(config: ConfigReader): string | undefined {
  if (!config.has('auth_cookie_domain')) return undefined;
  const domain = config.text('auth_cookie_domain', { max: 253 }).replace(/^\./, '').toLowerCase();
  const number = PROBLEM.cookieDomain;
  if (!/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*$/.test(domain))
    config.problem('auth_cookie_domain', number, 'must be a domain, such as "example.com"');
  else if (!tldts().getDomain(domain, SUFFIXES))
    config.problem('auth_cookie_domain', number, 'is a suffix below which others have names, too');
  else if (isShared(domain, config.environment.sharedDomains ?? []))
    config.problem('auth_cookie_domain', number, "is the gateway's own domain, below which others have names, too");
  return domain;
}

const SUFFIXES = { allowPrivateDomains: true };

/** Whether a cookie of the domain reaches names of the gateway's own domains. */
const isShared = (domain: string, shared: readonly string[]) =>
  shared.some((own) => own === domain || own.endsWith(`.${domain}`));

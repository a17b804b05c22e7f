// What may be wrong with the settings of the modules by which visitors sign in: said to whoever uploads them, and to agents.

import {
  CLIENT_BYTES_MAX,
  ISSUER_BYTES_MAX,
  SCOPES_MAX,
  SESSION_TIMES,
  scopeProblem,
} from '../../policy/sign-in/limits.ts';
import type { OauthSettings, OidcSettings, SignInModuleSettings } from './sign-in.ts';

/** How many entries each list of who is let in may have. */
export const LISTED_MAX = 100;
const COOKIE_PREFIX_MAX = 64;
const ADDRESS = /^[^\s\p{Cc}@<>,;"]+@[^\s\p{Cc}@<>,;"]+$/u;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;
const ORGANIZATION = /^[\w.-]{1,100}$/;
const TEAM = /^[\w.-]{1,100}\/[\w.-]{1,100}$/;

/** A mistake. `reason` is worded to be read after the member, which is in camelCase. */
export interface SignInProblem {
  member: string;
  reason: string;
}

type Findings = (SignInProblem | undefined)[];

/** @returns all mistakes. The URL of the issuer is checked where it is known what may be fetched. */
export function oidcProblems(settings: OidcSettings): SignInProblem[] {
  return mistakes([bytes('issuer', settings.issuer, 1, ISSUER_BYTES_MAX), ...shared(settings)]);
}

/** @returns all mistakes. */
export function oauthProblems(settings: OauthSettings): SignInProblem[] {
  const { clientId, clientSecret, teams, organizations, authCheckInterval } = settings;
  const isOwn = clientId !== '' && clientSecret !== '';
  return mistakes([
    isOwn ? undefined : { member: clientId === '' ? 'clientId' : 'clientSecret', reason: OWN_APP },
    ...shared(settings),
    ...entries('teams', teams, TEAM, 'must be a team with its organization, such as "acme/developers"'),
    ...entries('organizations', organizations, ORGANIZATION, 'must be the name of an organization, such as "acme"'),
    authCheckInterval === 0 ? undefined : seconds('authCheckInterval', authCheckInterval, SESSION_TIMES.check),
  ]);
}

const OWN_APP =
  'is required: the gateway has no app of its own at the provider, so register one and give its id and secret';

function shared(settings: SignInModuleSettings): Findings {
  const { scopes, cookiePrefix, emailAddresses, emailDomains, inactivityTimeout, maximumDuration } = settings;
  return [
    bytes('clientId', settings.clientId, 1, CLIENT_BYTES_MAX),
    bytes('clientSecret', settings.clientSecret, 0, CLIENT_BYTES_MAX),
    scopes.length > SCOPES_MAX ? { member: 'scopes', reason: `must have at most ${SCOPES_MAX} entries` } : undefined,
    ...scopes.map((scope, index) => problemAt(`scopes[${index}]`, scopeProblem(scope))),
    ...entries('emailAddresses', emailAddresses, ADDRESS, 'must be an e-mail address, such as "ann@example.com"'),
    ...entries('emailDomains', emailDomains, DOMAIN, 'must be a domain, such as "example.com"'),
    /^[a-z0-9.]*$/i.test(cookiePrefix) && cookiePrefix.length <= COOKIE_PREFIX_MAX
      ? undefined
      : { member: 'cookiePrefix', reason: `must be at most ${COOKIE_PREFIX_MAX} letters, digits and dots` },
    seconds('inactivityTimeout', inactivityTimeout, SESSION_TIMES.idle),
    seconds('maximumDuration', maximumDuration, SESSION_TIMES.max),
  ];
}

/** The first mistake of each member. */
function mistakes(findings: Findings): SignInProblem[] {
  const found = new Map<string, SignInProblem>();
  for (const finding of findings) if (finding && !found.has(finding.member)) found.set(finding.member, finding);
  return [...found.values()];
}

const problemAt = (member: string, reason: string | undefined) => (reason ? { member, reason } : undefined);

function bytes(member: string, text: string, min: number, max: number): SignInProblem | undefined {
  const length = Buffer.byteLength(text);
  return problemAt(member, length < min || length > max ? `must be ${min} to ${max} bytes` : undefined);
}

function entries(member: string, list: readonly string[], shape: RegExp, reason: string): Findings {
  if (list.length > LISTED_MAX) return [{ member, reason: `must have at most ${LISTED_MAX} entries` }];
  const isRight = (entry: string) => shape.test(entry) && entry.length <= 254;
  return list.map((entry, index) => problemAt(`${member}[${index}]`, isRight(entry) ? undefined : reason));
}

function seconds(member: string, value: number, { min, max }: { min: number; max: number }): SignInProblem | undefined {
  const isWithin = value * 1000 >= min && value * 1000 <= max;
  return problemAt(member, isWithin ? undefined : `must be from ${min / 1000} to ${max / 1000} seconds`);
}

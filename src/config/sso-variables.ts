// The variables of single sign-on for the dashboard.

import { z } from 'zod';
import type { SingleSignOnSettings } from '../api/single-sign-on-settings.ts';
import { flag, listValue } from './value-types.ts';

export const ssoVariables = {
  SSO_ISSUER: z
    .url({ protocol: /^https?$/, error: 'must be the URL of an OpenID Connect issuer' })
    .optional()
    .meta({
      description:
        'OpenID Connect issuer with which operators [sign in to the dashboard](dashboard.md#single-sign-on), as in `https://id.example.com/realms/ops`. Set it together with `SSO_CLIENT_ID`. The redirect URI to register there is `<PUBLIC_API_URL>/dashboard/sign-in`',
      defaultText: 'no single sign-on',
    }),
  SSO_CLIENT_ID: z.string().optional().meta({ description: 'client id that the issuer knows the dashboard by' }),
  SSO_CLIENT_SECRET: z.string().default('').meta({ description: 'secret of that client; a public client has none' }),
  SSO_ACCOUNT: z.string().optional().meta({
    description: 'id of the one account whose users sign in with it: `ac_…`',
    defaultText: 'the first account',
  }),
  SSO_NAME: z
    .string()
    .max(64)
    .default('single sign-on')
    .meta({ description: 'what the button on the sign-in page calls the issuer' }),
  SSO_SCOPES: listValue('openid,email,profile').meta({ description: 'scopes that are asked for' }),
  SSO_GROUPS_CLAIM: z
    .string()
    .min(1)
    .default('groups')
    .meta({ description: 'claim of the ID token, or of the user info, that lists the groups of a user' }),
  SSO_ADMIN_GROUPS: listValue('').meta({ description: 'groups whose users are admins; `*` is everybody' }),
  SSO_MEMBER_GROUPS: listValue('').meta({
    description:
      'groups whose users are members; `*` is everybody. With either list set, users are created at their first sign-in, their role follows their groups, and others are refused. With neither, only users that exist sign in',
  }),
  SSO_TRUST_EMAIL: flag.meta({
    description:
      'whether to rely on an e-mail address without `email_verified`, as of a directory where users cannot choose it',
  }),
  SSO_PASSWORD_USER: z.string().optional().meta({
    description:
      'e-mail address of the one user who may still sign in with a password, for the day on which the issuer is away',
    defaultText: 'all users may',
  }),
};

type SsoEnvironment = z.output<z.ZodObject<typeof ssoVariables>>;

export function singleSignOnSettings(e: SsoEnvironment): SingleSignOnSettings | undefined {
  if (!e.SSO_ISSUER || !e.SSO_CLIENT_ID) return undefined;
  return {
    issuer: e.SSO_ISSUER,
    clientId: e.SSO_CLIENT_ID,
    clientSecret: e.SSO_CLIENT_SECRET,
    accountId: e.SSO_ACCOUNT || undefined,
    name: e.SSO_NAME,
    scopes: [...new Set(['openid', ...e.SSO_SCOPES])],
    groupsClaim: e.SSO_GROUPS_CLAIM,
    adminGroups: e.SSO_ADMIN_GROUPS,
    memberGroups: e.SSO_MEMBER_GROUPS,
    trustsEmail: e.SSO_TRUST_EMAIL,
    passwordUser: e.SSO_PASSWORD_USER?.toLowerCase(),
  };
}

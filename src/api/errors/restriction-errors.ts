// The errors of IP restrictions of accounts: rows of the error table.

import { conflict, type ErrorRow, invalid } from './error-row.ts';

export const restrictionErrors = {
  // Who is refused.
  apiAddressRefused: [
    220,
    403,
    'FORBIDDEN',
    'The IP restriction of this account for the API does not allow your address, {ip}. Ask from an address that it allows, or have that one added to an IP policy of the restriction.',
  ],
  dashboardAddressRefused: [
    1212,
    403,
    'FORBIDDEN',
    'The IP restriction of this account for the dashboard does not allow your address, {ip}. Come from an address that it allows, or have that one added to an IP policy of the restriction.',
  ],

  // Changes of restrictions.
  tooManyRestrictionPolicies: invalid(1800, '{member} may name at most {max} IP policies.'),
  unknownRestrictionPolicy: invalid(1801, '{member} must name an IP policy of this account.'),
  restrictionTypeTaken: conflict(1802, 'The account has an IP restriction of this type already; change that one.'),
  badRestrictionType: invalid(1803, '{member} must be "dashboard", "api", "agent" or "endpoints".'),
  restrictionPoliciesMissing: invalid(1804, '{member} must name at least one IP policy.'),
  restrictionLocksOut: invalid(
    90396,
    'This would lock you out: the IP restriction for {what} would refuse the address that you ask from, as {reason}. First add a rule that allows {network} to one of its IP policies, or leave the restriction unenforced.',
  ),
} satisfies Record<string, ErrorRow>;

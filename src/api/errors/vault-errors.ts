// The errors of vaults and secrets.

import { conflict, type ErrorRow, invalid } from './error-row.ts';

export const vaultErrors = {
  vaultNameWrong: invalid(90700, '{member} must be one line of 1 to {max} bytes, and not begin or end with a space.'),
  vaultNameTaken: conflict(90701, 'Another vault of this account has this name.'),
  vaultInUse: conflict(90702, 'The vault still holds secrets; delete them first.'),
  secretNameTaken: conflict(90703, 'Another secret of this vault has this name.'),
  secretValueLength: invalid(90704, '{member} must be 1 to {max} bytes; it has {actual}.'),
  vaultMissing: invalid(90705, 'Say in which vault the secret is to be: by {member} or by {other}.'),
  unknownVault: invalid(90706, '{member} must be that of a vault of your account.'),
  vaultsDiffer: invalid(90707, '{member} and {other} are of two vaults; leave one of them out.'),
  tooManyVaultObjects: conflict(90708, 'This account has {max} {kind}, which is the most; delete one first.'),
  vaultSecretMissing: invalid(90709, '{member}: {problems}.'),
} as const satisfies Record<string, ErrorRow>;

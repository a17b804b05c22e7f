// Masks the secrets of an account in what policies say, to the log and to whoever tries them.

import type { SecretReader } from '../../http/module.ts';
import { SECRET_MASK } from '../../protocol/policy/policy-secrets.ts';

/** What is masked in texts of an account. A secret that a policy has encoded or cut is not recognised. */
export interface MaskContext {
  secrets: SecretReader;
  accountId: string;
}

/** The text with a mask in place of each secret. */
export function maskValues(text: string, { secrets, accountId }: MaskContext): string {
  const found = valuesOf(secrets, accountId).filter((value) => text.includes(value));
  // A secret may be part of another one.
  return found
    .sort((a, b) => b.length - a.length)
    .reduce((masked, value) => masked.replaceAll(value, SECRET_MASK), text);
}

/** A value of JSON types with a mask in place of each secret in its texts, names of members included. */
export function maskValuesIn(value: unknown, context: MaskContext): unknown {
  if (context.secrets.of(context.accountId).size === 0) return value;
  if (typeof value === 'string') return maskValues(value, context);
  if (Array.isArray(value)) return value.map((item) => maskValuesIn(item, context));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [maskValues(name, context), maskValuesIn(item, context)]),
  );
}

function valuesOf(secrets: SecretReader, accountId: string): string[] {
  return [...secrets.of(accountId).values()].flatMap((vault) => [...vault.values()]);
}

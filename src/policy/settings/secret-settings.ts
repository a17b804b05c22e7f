// The secret members in the config of an action, which no error message may contain.

import { maskSecret, SECRET_MASK, type SecretMember, secretMembers } from '../../protocol/policy/policy-secrets.ts';
import type { ActionKind } from './action-kind.ts';

/** The message for a bad expression in a secret. It does not quote the expression. */
export const SECRET_TEMPLATE = `it has a \${…} that is not closed, or that holds no expression; a literal \${ is \${'\${'}`;

/** The message for a mask that no stored secret has replaced. */
export const MASKED =
  `must be the secret itself: "${SECRET_MASK}" keeps one only where the stored policy has it at the same place, in an ` +
  'action of the same type';

/** The secret members of one config. */
export class SecretSettings {
  readonly #members: readonly SecretMember[];

  /** @param kind the kind of action; undefined for a nested object, which has no secrets. */
  constructor(kind: ActionKind | undefined) {
    this.#members = secretMembers(kind?.type);
  }

  /** Whether the value at a path is a secret, as in `secret` or `credentials[0]`. */
  has(path: string): boolean {
    const name = path.replace(/\[\d+\]$/, '');
    return this.#members.some((secret) => secret.name === name);
  }

  /** The paths at which a mask stands in place of a secret. */
  masksIn(settings: Record<string, unknown>): string[] {
    return this.#members.flatMap((secret) => {
      const isMask = (value: unknown) => typeof value === 'string' && value === maskSecret(secret, value);
      const value = Object.hasOwn(settings, secret.name) ? settings[secret.name] : undefined;
      if (!Array.isArray(value)) return isMask(value) ? [secret.name] : [];
      return value.flatMap((item, i) => (isMask(item) ? [`${secret.name}[${i}]`] : []));
    });
  }
}

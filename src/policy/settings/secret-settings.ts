// The secrets among the settings of an action: what is wrong with one is told without it.

import { maskSecret, SECRET_MASK, type SecretMember, secretMembers } from '../../protocol/policy/policy-secrets.ts';
import type { ActionKind } from './action-kind.ts';

/** In place of what is wrong with an expression in a secret. */
export const SECRET_TEMPLATE = `it has a \${…} that is not closed, or that holds no expression; a literal \${ is \${'\${'}`;

/** Of a mask that is still there when a policy is to be used. */
export const MASKED =
  `must be the secret itself: "${SECRET_MASK}" keeps one only where the stored policy has it at the same place, in an ` +
  'action of the same type';

export class SecretSettings {
  readonly #members: readonly SecretMember[];

  /** @param kind undefined for an object within the settings, which has none. */
  constructor(kind: ActionKind | undefined) {
    this.#members = secretMembers(kind?.type);
  }

  /** Whether a secret stands at a path, as `secret` or `credentials[0]`. */
  has(path: string): boolean {
    const name = path.replace(/\[\d+\]$/, '');
    return this.#members.some((secret) => secret.name === name);
  }

  /** The paths where a mask stands in place of a secret. */
  masksIn(settings: Record<string, unknown>): string[] {
    return this.#members.flatMap((secret) => {
      const isMask = (value: unknown) => typeof value === 'string' && value === maskSecret(secret, value);
      const value = Object.hasOwn(settings, secret.name) ? settings[secret.name] : undefined;
      if (!Array.isArray(value)) return isMask(value) ? [secret.name] : [];
      return value.flatMap((item, i) => (isMask(item) ? [`${secret.name}[${i}]`] : []));
    });
  }
}

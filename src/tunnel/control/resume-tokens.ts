import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Tokens with which an agent resumes its session or tunnel after a reconnect or a restart of either side. They are signed, so
 * the gateway stores none.
 */
export class ResumeTokens {
  readonly #key: Buffer;

  /** @param key derived from the server key for this purpose only. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** The token of a session. Every credential of the account may present it, so that the authtoken can be rotated. */
  cookie(accountId: string, clientId: string): string {
    return this.#sign('session', accountId, clientId);
  }

  verifyCookie(text: string, accountId: string, clientId: string): boolean {
    return equalInConstantTime(text, this.cookie(accountId, clientId));
  }

  /** The token of a tunnel and its address. */
  bindToken(accountId: string, tunnelId: string, address: string): string {
    return this.#sign('tunnel', accountId, tunnelId, address);
  }

  verifyBindToken(text: string, accountId: string, tunnelId: string, address: string): boolean {
    return equalInConstantTime(text, this.bindToken(accountId, tunnelId, address));
  }

  #sign(...parts: string[]): string {
    return createHmac('sha256', this.#key).update(JSON.stringify(parts)).digest('base64url');
  }
}

function equalInConstantTime(received: string, expected: string): boolean {
  const [a, b] = [Buffer.from(received), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b); // `timingSafeEqual` throws when the lengths differ.
}

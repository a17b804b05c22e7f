// What proves, after a reconnect or a restart of either side, that a session or a tunnel was the agent's own. Signed, so
// that the gateway has nothing to remember.

import { createHmac, timingSafeEqual } from 'node:crypto';

export class ResumeTokens {
  readonly #key: Buffer;

  /** @param key derived from the server key, for this purpose alone. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** For the session of an agent: any credential of its account may present it, so that a token can be exchanged. */
  cookie(accountId: string, clientId: string): string {
    return this.#sign('session', accountId, clientId);
  }

  verifyCookie(text: string, accountId: string, clientId: string): boolean {
    return equalInConstantTime(text, this.cookie(accountId, clientId));
  }

  /** For a tunnel at its address. */
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

/** @param given by the agent: any text. */
function equalInConstantTime(given: string, own: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(own)];
  return a.length === b.length && timingSafeEqual(a, b); // Which throws where the lengths in bytes differ.
}

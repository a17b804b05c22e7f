// The keys of TLS session tickets (RFC 5077; RFC 8446, section 4.6.1): the same in every worker and node, so that a visitor resumes a
// session at any of them.

import { hkdfSync } from 'node:crypto';

const DAY_MS = 86_400_000;
/** As Node takes them: a name, a key of HMAC and one of AES, 16 bytes each. */
const KEY_BYTES = 48;

/**
 * Follows from the server key. Each day has keys of its own, so that sessions of an earlier day are safe from who learns those of a
 * later one. Node takes one set of keys, and none besides to accept tickets with: at midnight (UTC) every visitor agrees on a new
 * session once, which costs a handshake. Where the names of a session differ its keys do, so that it is resumed under no other.
 */
export class TicketKeys {
  readonly #secret: Buffer | undefined;
  readonly #now: () => number;

  /** @param secret of all processes that are to resume sessions of each other; undefined: none do. @param now the wall clock, in milliseconds. */
  constructor(secret: Buffer | undefined, now: () => number) {
    this.#secret = secret;
    this.#now = now;
  }

  /** The number of the day. Contexts of another day have other keys. */
  get day(): number {
    return Math.floor(this.#now() / DAY_MS);
  }

  /** @param what sessions are for: the certificate, and what it is shown for. @returns undefined: Node is to make keys up. */
  for(what: { certificate: string; servedAs: string }): Buffer | undefined {
    if (!this.#secret) return undefined;
    const info = JSON.stringify(['tunnel-gateway session tickets', this.day, what.servedAs, what.certificate]);
    return Buffer.from(hkdfSync('sha256', this.#secret, '', info, KEY_BYTES));
  }
}

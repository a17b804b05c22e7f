// Password hashing with argon2id, limited to a few at a time.

import { randomBytes } from 'node:crypto';

/** OWASP’s recommendation: 19 MiB, two passes. Argon2id is the library’s default. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** How many run at the same time. Each takes a processor core for tens of milliseconds, and visitors’ requests need some too. */
const RUNNING_MAX = 2;
const WAITING_MAX = 20;
/** The most UTF-16 code units of a password. Normalizing some longer texts takes very long. */
const LENGTH_MAX = 4096;

/** Thrown when too many passwords wait to be hashed. */
export class PasswordsBusy extends Error {}

/** Hashes passwords and compares them, at most two at once. */
export class Passwords {
  /** A hash that no password matches, for users without one. */
  readonly #dummyHash = phcText(randomBytes(16), randomBytes(32));
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @returns PHC text. @throws {PasswordsBusy} */
  async hash(password: string): Promise<string> {
    const { hash } = await import('@node-rs/argon2');
    return this.#limited(() => hash(normalized(password), COST));
  }

  /**
   * Whether a password matches a stored hash. Without a hash it takes as long and returns false, so that the time reveals nothing.
   * @throws {PasswordsBusy}
   */
  async isRight(password: string, stored: string | undefined): Promise<boolean> {
    const { verify } = await import('@node-rs/argon2');
    const isPossible = password.length <= LENGTH_MAX;
    const isEqual = await this.#limited(() =>
      verify(stored ?? this.#dummyHash, isPossible ? normalized(password) : ''),
    );
    return isEqual && isPossible && stored !== undefined;
  }

  async #limited<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < RUNNING_MAX) this.#running++;
    else {
      if (this.#waiting.length >= WAITING_MAX) throw new PasswordsBusy();
      await new Promise<void>((resolve) => this.#waiting.push(resolve)); // The task that ends passes its slot on to the next one.
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

/** Unicode normalization, so that one password typed on two keyboards is the same text (NIST SP 800-63B, section 5.1.1.2). */
function normalized(password: string): string {
  return password.normalize('NFKC');
}

function phcText(salt: Buffer, digest: Buffer): string {
  const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  const { memoryCost, timeCost, parallelism } = COST;
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${base64(salt)}$${base64(digest)}`;
}

// Hashing of passwords: argon2id, a few at a time.

import { randomBytes } from 'node:crypto';

/** OWASP’s recommendation: 19 MiB, two passes. Argon2id is what the library does unless told otherwise. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Each takes a processor for tens of milliseconds: visitors’ requests need some too. */
const RUNNING_MAX = 2;
const WAITING_MAX = 20;
/** No password is longer. To make some longer texts normal takes the processor for a long time. */
const LENGTH_MAX = 4096;

/** More people want to sign in at once than can be served. */
export class PasswordsBusy extends Error {}

/** Hashes passwords and compares them, at most two at once. */
export class Passwords {
  /** The hash of nothing that anybody knows. */
  readonly #dummyHash = phcText(randomBytes(16), randomBytes(32));
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @returns PHC text. @throws {PasswordsBusy} */
  async hash(password: string): Promise<string> {
    const { hash } = await import('@node-rs/argon2');
    return this.#limited(() => hash(normalized(password), COST));
  }

  /**
   * Whether this is the password of a hash; of none, it takes as long to say no.
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
      await new Promise<void>((resolve) => this.#waiting.push(resolve)); // Who ends leaves its place to the next.
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

/** One password typed on two keyboards is the same text afterwards (NIST SP 800-63B, section 5.1.1.2). */
function normalized(password: string): string {
  return password.normalize('NFKC');
}

function phcText(salt: Buffer, digest: Buffer): string {
  const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  const { memoryCost, timeCost, parallelism } = COST;
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${base64(salt)}$${base64(digest)}`;
}

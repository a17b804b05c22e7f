// Whether the issuers that policies name can be read. They are asked between transactions and never within one, which would keep
// locks for as long as an issuer takes to answer.

import type { ReachableHosts } from '../net/reachable-hosts.ts';
import { describeIssuer } from '../policy/auth/issuer-description.ts';

/** The most issuers that one operation asks; each answers within 5 s. */
const ISSUERS_MAX = 3;
const REASON_MAX = 300;

/** What one operation knows of issuers. A policy asks for those that it names, and the transaction begins anew with the answers. */
export class IssuerChecks {
  readonly #hosts: () => ReachableHosts;
  readonly #known = new Map<string, string | undefined>();
  #wanted: string | undefined;

  /** @param hosts where issuers may be. */
  constructor(hosts: () => ReachableHosts) {
    this.#hosts = hosts;
  }

  /**
   * What is wrong with an issuer, worded to be read after its place; undefined when nothing is.
   * @throws {IssuerUnread} when that is not known yet, which ends the transaction.
   */
  problemOf(issuer: string): string | undefined {
    if (this.#known.has(issuer)) return this.#known.get(issuer);
    if (this.#known.size === ISSUERS_MAX) return `is one of more than ${ISSUERS_MAX} issuers: set them one by one`;
    this.#wanted = issuer;
    throw new IssuerUnread();
  }

  /** Runs a transaction, anew after each issuer that it wanted to know of, whatever became of the error in it. */
  async run<T>(transaction: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await transaction();
      } catch (error) {
        const issuer = this.#wanted;
        if (issuer === undefined) throw error;
        this.#wanted = undefined;
        this.#known.set(issuer, await this.#read(issuer));
      }
    }
  }

  async #read(issuer: string): Promise<string | undefined> {
    try {
      await describeIssuer(issuer, this.#hosts());
      return undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return `names an issuer that cannot be read: ${reason.replace(/[^\x20-\x7e]/g, '?').slice(0, REASON_MAX)}`;
    }
  }
}

/** Ends a transaction that goes on once an issuer was asked. Nobody is told of it. */
export class IssuerUnread extends Error {}

/** Whether the text of a policy names an issuer: it was there before, and need not answer now. */
export function namesIssuer(text: string, issuer: string): boolean {
  for (let at = text.indexOf(issuer); at >= 0; at = text.indexOf(issuer, at + 1))
    if (!/^[\w./:%?~-]/.test(text.slice(at + issuer.length))) return true;
  return false;
}

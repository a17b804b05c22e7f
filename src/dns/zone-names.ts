// What the responder asks the gateway.

/** What there is at a name: nothing, the addresses of its zone, or texts alone, of which there may be none at the moment. */
export type NameContent =
  | { kind: 'none' }
  | { kind: 'addresses'; txt?: readonly string[] }
  | { kind: 'text'; txt: readonly string[] };

/** What the gateway knows of names below the apex of a zone. */
export interface ZoneNames {
  /**
   * Wildcards and the names between a known one and its zone are its business. It is not asked for apexes and name servers.
   * It must settle, and be able to run many times at once.
   * @param name lower case, A-labels, without the dot at the end, below the apex of one of the zones.
   * @throws when it cannot say, which is answered with SERVFAIL, never as if there was nothing.
   */
  find(name: string): Promise<NameContent>;
}

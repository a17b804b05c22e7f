// The zones that the responder has, checked, and what it says of each without asking anybody.

import { isIP } from 'node:net';
import { labelOf, NAME_BYTES_MAX, suffixesOf } from './codec/name.ts';
import { addressRecord, authorityRecord, nameServerRecord, type ResourceRecord } from './codec/records.ts';

/** One zone that the responder is authoritative for. */
export interface Zone {
  /** Lower case, no dot at the end. It may be below the apex of another zone, which then needs no delegation to it. */
  apex: string;
  /** `ns1.<apex>` when left out. Those in one of the zones have the addresses of that zone. */
  nameServers?: readonly string[];
  /** IPv4 and IPv6: those of the apex, of its name servers, and of the names that [`ZoneNames`](zone-names.ts) calls `addresses`. */
  addresses: readonly string[];
  /** The mailbox of who is responsible, `name@domain`; `hostmaster@<apex>` when left out. */
  hostmaster?: string;
}

/** How long addresses may be kept; seconds. They change when a gateway moves. */
export const ADDRESS_TTL = 60;
/** Of name servers, which change hardly ever; seconds. */
const NAME_SERVER_TTL = 3600;
/**
 * How long it may be kept that there is nothing; seconds. Whoever publishes a value must not wait for long until those who asked
 * before see it.
 */
const NEGATIVE_TTL = 1;
/** Nobody copies the zone, so that its version says nothing and these times are what checkers of zones like to see. */
const TIMES = { serial: 1, refresh: 3600, retry: 600, expire: 604_800, minimum: NEGATIVE_TTL };

/** A zone as it is answered from. */
export interface ServedZone {
  readonly apex: string;
  readonly addresses: readonly string[];
  readonly authority: ResourceRecord;
  readonly nameServers: readonly ResourceRecord[];
}

/** What a name is to the zones themselves. `between` has nothing, but there are names below it (RFC 8020). */
export type OwnName = 'apex' | 'nameServer' | 'between';

/** All zones, by apex. */
export class ZoneTable {
  readonly #zones = new Map<string, ServedZone>();
  readonly #names = new Map<string, OwnName>();

  /** @throws {RangeError} that says what is wrong with a zone. */
  constructor(zones: readonly Zone[]) {
    for (const zone of zones) {
      if (this.#zones.has(zone.apex)) throw new RangeError(`the zone ${zone.apex} is there twice`);
      this.#zones.set(zone.apex, serve(zone));
    }
    for (const { apex, nameServers } of this.#zones.values()) {
      this.#own(apex, 'apex');
      for (const { data } of nameServers) this.#own(data[0] as string, 'nameServer');
    }
  }

  /** The zone that a name belongs to: the one with the longest apex that the name is, or is below. */
  zoneOf(name: string): ServedZone | undefined {
    for (const suffix of suffixesOf(name)) {
      const zone = this.#zones.get(suffix);
      if (zone) return zone;
    }
    return undefined;
  }

  /** What the zones themselves say of a name; undefined where they say nothing. */
  ownName(name: string): OwnName | undefined {
    return this.#names.get(name);
  }

  /** Notes a name and those above it. Those that are in no zone are asked for by nobody who has found its zone. */
  #own(name: string, kind: OwnName): void {
    if (this.#names.get(name) === 'apex') return;
    this.#names.set(name, kind);
    for (const suffix of suffixesOf(name)) {
      if (!this.#names.has(suffix)) this.#names.set(suffix, 'between');
    }
  }
}

function serve({
  apex,
  nameServers = [`ns1.${apex}`],
  addresses,
  hostmaster = `hostmaster@${apex}`,
}: Zone): ServedZone {
  checkName(apex, `the zone "${apex}"`);
  const [primary] = nameServers;
  if (primary === undefined) throw new RangeError(`the zone ${apex} needs a name server`);
  for (const server of nameServers) checkName(server, `the name server "${server}" of ${apex}`);
  for (const address of addresses) {
    if (isIP(address) === 0)
      throw new RangeError(`"${address}" of the zone ${apex} is no address: it must be like 192.0.2.1 or 2001:db8::1`);
  }
  return {
    apex,
    addresses,
    authority: authorityRecord(apex, NEGATIVE_TTL, primary, mailboxName(hostmaster, apex), TIMES),
    nameServers: [...new Set(nameServers)].map((server) => nameServerRecord(apex, NAME_SERVER_TTL, server)),
  };
}

/** The addresses of a name in a zone. */
export const addressRecords = (zone: ServedZone, name: string): ResourceRecord[] =>
  zone.addresses.map((address) => addressRecord(name, ADDRESS_TTL, address));

/** A mailbox as SOA records have it: what is before the @ is the first label, dots and all. */
function mailboxName(mailbox: string, apex: string): string {
  const [, user = '', domain = ''] = /^([!-?A-~]{1,63})@([^@]+)$/.exec(mailbox) ?? [];
  const what = `the hostmaster "${mailbox}" of ${apex}`;
  if (user === '' || user.length + domain.length + 3 > NAME_BYTES_MAX)
    throw new RangeError(`${what} is no mailbox: it must be like hostmaster@example.com`);
  checkName(domain, what);
  return `${labelOf(user)}.${domain}`;
}

function checkName(name: string, what: string): void {
  const isName = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/.test(name) && name.length + 2 <= NAME_BYTES_MAX;
  if (!isName)
    throw new RangeError(
      `${what} is no name: it must be in lower case and without a dot at the end, like dns.example.com`,
    );
}

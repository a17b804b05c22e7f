// Databases of addresses in the MMDB format, which the operator provides: where an address is, and whose network it is in.
// They are read again when the files change.

import { readFile, stat } from 'node:fs/promises';
import type { Reader, Response } from 'mmdb-lib';
import type { Logger } from 'pino';

/** How often the files are looked at, in milliseconds. */
const LOOK_MS = 10_000;

/** A place as the databases know it. Texts are empty where they do not know it. */
export interface GeoCountry {
  /** Its English name. */
  country: string;
  /** Two capital letters (ISO 3166-1). */
  countryCode: string;
  isEu: boolean;
}

export interface GeoLocation extends GeoCountry {
  city: string;
  continent: string;
  /** Degrees, in decimal. */
  latitude: string;
  longitude: string;
  metroCode: string;
  postalCode: string;
  /** How exact the coordinates are; kilometres. */
  radius: string;
  subdivision: string;
  /** As `Europe/Berlin`. */
  timezone: string;
}

/** What is known of an address. */
export interface AddressFacts {
  location: GeoLocation;
  /** Where the network is registered. */
  registered: GeoCountry;
  /** The autonomous system; 0 when it is not known. */
  asNumber: number;
  asOrganization: string;
}

export interface GeoDatabases {
  /** @returns facts without values for an address that no database has. */
  find(address: string): AddressFacts;
  close(): void;
}

/**
 * Reads the files. Of what several have, the first one counts.
 * @throws {Error} naming the file that cannot be read; later that is logged, and what was read before stays.
 */
export async function openGeoDatabases(files: readonly string[], log: Logger, lookMs = LOOK_MS): Promise<GeoDatabases> {
  const databases = files.map((file) => new GeoDatabase(file));
  for (const database of databases) if (await database.look()) log.info(database.about, 'database of addresses loaded');
  let isClosed = false;
  let last: { address: string; facts: AddressFacts } | undefined;
  const lookAgain = async () => {
    for (const database of databases)
      try {
        if (!(await database.look())) continue;
        last = undefined;
        log.info(database.about, 'database of addresses loaded');
      } catch (error) {
        log.warn({ err: (error as Error).message }, 'a database of addresses could not be reloaded');
      }
    if (!isClosed) timer = setTimeout(lookAgain, lookMs).unref();
  };
  let timer = setTimeout(lookAgain, lookMs).unref();
  return {
    find(address) {
      // A policy asks for several facts of the same visitor.
      if (last?.address !== address) last = { address, facts: factsOf(databases.map((each) => each.find(address))) };
      return last.facts;
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** The facts without a database. */
export const NO_FACTS: AddressFacts = factsOf([]);

type Entry = Record<string, unknown>;

class GeoDatabase {
  readonly #file: string;
  #seen: string | undefined;
  #reader: Reader<Response> | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** For the log. */
  get about() {
    const { databaseType, buildEpoch } = this.#reader?.metadata ?? {};
    return { file: this.#file, databaseType, buildEpoch };
  }

  /** Reads the file when it has changed. @returns whether it was read. */
  async look(): Promise<boolean> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#file);
      const state = `${mtimeMs} ${size} ${ino}`;
      if (state === this.#seen) return false;
      const { Reader } = await import('mmdb-lib');
      this.#reader = new Reader<Response>(await readFile(this.#file));
      this.#seen = state;
      return true;
    } catch (error) {
      throw new Error(
        `${this.#file} cannot be read as a database of addresses (MMDB): ${error instanceof Error ? error.message : error}`,
      );
    }
  }

  find(address: string): Entry | undefined {
    try {
      return (this.#reader?.get(address) ?? undefined) as Entry | undefined;
    } catch {
      return undefined; // A broken entry is as good as none.
    }
  }
}

function factsOf(found: readonly (Entry | undefined)[]): AddressFacts {
  /** The value at a path of members, in the first database that has it. */
  const at = (...path: (string | number)[]): unknown => {
    for (const entry of found) {
      const value = path.reduce<unknown>((inner, key) => (inner as Entry | undefined)?.[key], entry);
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  };
  const text = (...path: (string | number)[]): string => {
    const value = at(...path);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  const country = (member: string): GeoCountry => ({
    country: text(member, 'names', 'en'),
    countryCode: text(member, 'iso_code'),
    isEu: at(member, 'is_in_european_union') === true,
  });
  return {
    location: {
      ...country('country'),
      city: text('city', 'names', 'en'),
      continent: text('continent', 'names', 'en'),
      latitude: text('location', 'latitude'),
      longitude: text('location', 'longitude'),
      metroCode: text('location', 'metro_code'),
      postalCode: text('postal', 'code'),
      radius: text('location', 'accuracy_radius'),
      subdivision: text('subdivisions', 0, 'names', 'en'),
      timezone: text('location', 'time_zone'),
    },
    registered: country('registered_country'),
    asNumber: Number(text('autonomous_system_number')) || 0,
    asOrganization: text('autonomous_system_organization'),
  };
}

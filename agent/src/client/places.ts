// The places where the gateway can be reached. Each leg of a client connects to another one.

import { isIP } from 'node:net';
import { lookUp } from '../look-up.ts';

/** A place where the gateway listens. */
export interface Place {
  /** A name or an address, without brackets. The certificate must be for it. */
  host: string;
  port: number;
  /** The address to connect to, where the name has several that are places of their own. */
  address?: string | undefined;
}

/** The most places that are tried. A name may have any number of addresses. */
const PLACES_MAX = 16;
/** How long names may take where an address is there to connect to at once; milliseconds. */
const NAMES_BESIDE_ADDRESS_MS = 250;

/**
 * Finds the places. A name with several addresses of one family (IPv4 or IPv6) stands for several places; with one of each it is
 * one machine. A name that cannot be looked up is one place, too: to connect to it then says why.
 * @param timeout how long names may take, in milliseconds; beside an address it is a quarter of a second at most. @param signal ends the look-ups when it is aborted.
 * @param find looks up all addresses of a name.
 */
export async function findPlaces(
  gateways: readonly Place[],
  timeout: number,
  signal: AbortSignal,
  find: FindAddresses = lookUp,
): Promise<Place[]> {
  const hasAddress = gateways.some(({ host }) => isIP(host));
  const limit = hasAddress ? Math.min(timeout, NAMES_BESIDE_ADDRESS_MS) : timeout;
  const found = await Promise.all(gateways.map((gateway) => resolve(gateway, limit, signal, find)));
  return found.flat().slice(0, PLACES_MAX);
}

type FindAddresses = (name: string) => Promise<{ address: string; family: number }[]>;

async function resolve(gateway: Place, timeout: number, signal: AbortSignal, find: FindAddresses): Promise<Place[]> {
  if (isIP(gateway.host)) return [gateway];
  const addresses: string[] = [];
  const resolved = find(gateway.host).then((all) => {
    const alone = [4, 6].every((family) => all.filter((each) => each.family === family).length < 2);
    if (!alone) addresses.push(...all.map(({ address }) => address));
  });
  await settled(resolved, timeout, signal);
  return addresses.length === 0 ? [gateway] : addresses.map((address) => ({ ...gateway, address }));
}

/** Resolves when the promise has settled, after a timeout, or when the signal is aborted. */
function settled(promise: Promise<unknown>, timeout: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, timeout);
    signal.addEventListener('abort', done);
    promise.then(done, done);
    if (signal.aborted) done();
  });
}

/** The places that a leg has tried since its last session, until it has tried all. */
export class PlaceRound {
  readonly #tried = new Set<string>();

  /** The next place. @param used those of other legs, which come last. */
  next(places: readonly Place[], used: readonly Place[]): Place {
    if (this.isOver(places)) this.clear();
    const untried = places.filter((place) => !this.#tried.has(writePlace(place)));
    const keys = used.map(writePlace);
    const place = untried.find((each) => !keys.includes(writePlace(each))) ?? (untried[0] as Place);
    this.#tried.add(writePlace(place));
    return place;
  }

  /** Whether all places were tried. */
  isOver(places: readonly Place[]): boolean {
    return places.every((place) => this.#tried.has(writePlace(place)));
  }

  clear(): void {
    this.#tried.clear();
  }
}

/** Formats a place as `host:port`, with the address behind it where the name has several. */
export function writePlace({ host, port, address }: Place): string {
  const text = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return address === undefined ? text : `${text} (${address})`;
}

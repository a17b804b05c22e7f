// Captures that somebody has started, as they are stored: of an address, so that they go on whoever serves it, and whenever.

import type { LiveEndpoint } from '../tunnel/endpoints/endpoint.ts';
import { type EndpointAddress, endpointAddress } from '../tunnel/endpoints/endpoint-registry.ts';

/** What is captured: the requests of one account at one address. */
export interface CaptureTarget {
  accountId: string;
  address: EndpointAddress;
}

/** The members of an endpoint that say which target it belongs to. */
export type CapturedEndpoint = Pick<LiveEndpoint, 'accountId' | 'proto' | 'hostname' | 'port'>;

/** A capture that is on. */
export interface StoredCapture extends CaptureTarget {
  /** `tcap_…`: another one each time that it is started, and the same one while its settings are changed. */
  id: string;
  /** The user who started it, or changed its settings last: `usr_…`, `bot_…`. */
  ownerId: string;
  /** The most bytes that are recorded of each body. */
  bodyBytes: number;
  /** The names of further header fields whose values are redacted, in any case. */
  redactHeaders: readonly string[];
  /** When it ends, in milliseconds of the wall clock. */
  endsAt: number;
}

/** Where a node finds the captures that are on. The store answers from the database, and to workers the control process. */
export interface CaptureSource {
  /** @param ids those to look for, or null for all. @returns those of them that are on. */
  load(ids: readonly string[] | null): Promise<StoredCapture[]>;
  /**
   * Calls the listener with the ids of captures that were started, changed or stopped; null when any may have been.
   * @returns the function that removes the listener.
   */
  onChange(listener: (ids: readonly string[] | null) => Promise<void>): () => void;
}

/** The target that the requests to an endpoint belong to. */
export function targetOf(endpoint: CapturedEndpoint): CaptureTarget {
  return { accountId: endpoint.accountId, address: endpointAddress(endpoint) };
}

/** A text that two targets have in common when they are the same. */
export function targetKey({ accountId, address }: CaptureTarget): string {
  return `${accountId} ${address}`;
}

/** The host name of an address of HTTP or TLS, as `hostname` of its endpoints has it. */
export function targetHostname(address: EndpointAddress): string {
  const parts = address.split(':');
  return parts[parts[0] === 'internal' ? 3 : 1] ?? '';
}

// The settings of the links between nodes.

import type { LinkTiming } from './node-link.ts';

export interface NodeLinkSettings extends LinkTiming {
  /** The address or host name by which other nodes reach this one, without a port. */
  address: string;
  /** The port; 0 is any free one. */
  port: number;
  /** How often counts of rate limits are shared; milliseconds. */
  limitShareMs: number;
  /** The Redis or Valkey server that counts rate limits exactly; undefined when the nodes share what they count. */
  limitsUrl: string | undefined;
  /** The address to listen on. */
  host: string;
}

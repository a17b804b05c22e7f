// The settings of the links between nodes.

import type { LinkTiming } from './node-link.ts';

export interface NodeLinkSettings extends LinkTiming {
  /** The address or host name by which other nodes reach this one, without a port. */
  address: string;
  /** The port; 0 is any free one. */
  port: number;
  /** How often counts of rate limits are shared; milliseconds. */
  limitShareMs: number;
  /** The address to listen on. */
  host: string;
}

// The settings of the links between nodes.

import type { LinkTiming } from './node-link.ts';

/** How nodes of other machines reach this one. */
export interface RemoteNodeSettings {
  /** The address or host name, without a port. */
  address: string;
  /** The port; 0 is any free one. */
  port: number;
  /** The address to listen on. */
  host: string;
}

export interface NodeLinkSettings extends LinkTiming {
  /** Undefined: there are no nodes on other machines. */
  remote: RemoteNodeSettings | undefined;
  /** The directory of the unix sockets of the nodes on this machine; undefined: this is the only one. */
  localDirectory: string | undefined;
  /** How often counts of rate limits are shared; milliseconds. */
  limitShareMs: number;
  /** The Redis or Valkey server that counts rate limits exactly; undefined when the nodes share what they count. */
  limitsUrl: string | undefined;
}

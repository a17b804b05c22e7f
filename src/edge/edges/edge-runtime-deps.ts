// What the runtimes of edges need of the rest of the gateway.

import type { ModuleEnvironment } from '../../http/module.ts';
import type { EndpointLookup } from '../../tunnel/endpoints/endpoint-lookup.ts';
import type { EndpointRegistry } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { AddressDialer } from '../dialing/address-dialer.ts';
import type { ModuleDescriptor } from '../modules/descriptor.ts';
import type { PublicPorts } from './edge-config.ts';

export interface EdgeRuntimeDeps {
  endpoints: EndpointRegistry;
  /** Finds tunnels of other nodes where this one has none with the labels of a backend, or at an address. */
  lookup: Pick<EndpointLookup, 'reachesNodes' | 'resolveLabels' | 'isServedElsewhere'>;
  /** Connects to the addresses of backends. */
  dialer: AddressDialer;
  environment: ModuleEnvironment;
  /** From 0 to less than 1, as `Math.random`: chooses among weighted backends. */
  random(): number;
  /** The modules that there are. */
  descriptors: readonly ModuleDescriptor[];
  /** The ports that URLs show. */
  publicPorts: PublicPorts;
  /** Told of an edge or a route that cannot be served as it is configured, with the reason. It refuses its visitors. */
  onBroken(id: string, error: unknown): void;
}

export function reasonOf(error: unknown): string {
  return `it cannot be served as it is configured: ${error instanceof Error ? error.message : String(error)}`;
}

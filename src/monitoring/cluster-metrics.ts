// Prometheus metrics of the links between nodes, and of the lookups of what other nodes serve.

import type { Registry } from 'prom-client';
import type { ClusterEndpoints } from '../cluster/cluster-endpoints.ts';
import type { LinkCounters } from '../cluster/link-counters.ts';
import type { NodeLinks } from '../cluster/node-links.ts';
import { type LabelledValue, metricsFor } from './metrics.ts';

export interface ClusterMetricsSource {
  links: Pick<NodeLinks, 'size'>;
  lookup: Pick<ClusterEndpoints, 'tunnels'>;
  counters: LinkCounters;
}

/** Registers the metrics. @param cluster undefined for a node that reaches no others. */
export function clusterMetrics(
  registry: Registry,
  cluster: ClusterMetricsSource | undefined,
  lookups: { readonly hits: number; readonly misses: number },
): void {
  const { gauge, counter } = metricsFor(registry);
  counter(
    'gateway_route_lookups_total',
    'Lookups of names that this node does not serve, by what answered.',
    ['source'],
    () => [
      [{ source: 'cache' }, lookups.hits],
      [{ source: 'database' }, lookups.misses],
    ],
  );
  if (!cluster) return;
  const { links, lookup, counters } = cluster;
  gauge('gateway_node_links', 'Open links to other nodes.', () => links.size);
  gauge('gateway_remote_tunnels', 'Tunnels of other nodes that this node knows.', () => lookup.tunnels.size);
  counter(
    'gateway_node_link_dials_total',
    'Links to other nodes, by their outcome.',
    ['outcome'],
    (): LabelledValue[] => [
      [{ outcome: 'opened' }, counters.opened],
      [{ outcome: 'failed' }, counters.failed],
    ],
  );
  counter(
    'gateway_node_hops_total',
    'Visits between nodes: sent to others, received, and sent elsewhere once more.',
    ['kind'],
    () => [
      [{ kind: 'sent' }, counters.visitsOut],
      [{ kind: 'received' }, counters.visitsIn],
      [{ kind: 'rerouted' }, counters.rerouted],
    ],
  );
  counter('gateway_node_link_bytes_total', 'Bytes of the visits that other nodes have sent.', [], () => [
    [{}, counters.bytes],
  ]);
}

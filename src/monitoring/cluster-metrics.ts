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
  limits: { readonly isConnected: boolean } | undefined;
}

/** Registers the metrics. @param cluster undefined for a node that reaches no others: it tells zeros, so that alerts can ask for them. */
export function clusterMetrics(
  registry: Registry,
  cluster: ClusterMetricsSource | undefined,
  lookups: { readonly hits: number; readonly misses: number },
): void {
  const { gauge, gauges, counter } = metricsFor(registry);
  counter(
    'gateway_route_lookups_total',
    'Lookups of names that this node does not serve, by what answered.',
    ['source'],
    () => [
      [{ source: 'cache' }, lookups.hits],
      [{ source: 'database' }, lookups.misses],
    ],
  );
  const count = (name: keyof LinkCounters) => cluster?.counters[name] ?? 0;
  gauge('gateway_node_links', 'Open links to other nodes.', () => cluster?.links.size ?? 0);
  gauge(
    'gateway_remote_tunnels',
    'Tunnels of other nodes that this node knows.',
    () => cluster?.lookup.tunnels.size ?? 0,
  );
  gauges('gateway_limits_connected', 'Whether the server that counts rate limits answers: 1 or 0.', [], () =>
    cluster?.limits ? [[{}, Number(cluster.limits.isConnected)]] : [],
  );
  counter(
    'gateway_node_link_dials_total',
    'Links to other nodes, by their outcome.',
    ['outcome'],
    (): LabelledValue[] => [
      [{ outcome: 'opened' }, count('opened')],
      [{ outcome: 'failed' }, count('failed')],
    ],
  );
  counter(
    'gateway_node_hops_total',
    'Visits between nodes: sent to others, received, and sent elsewhere once more.',
    ['kind'],
    () => [
      [{ kind: 'sent' }, count('visitsOut')],
      [{ kind: 'received' }, count('visitsIn')],
      [{ kind: 'rerouted' }, count('rerouted')],
    ],
  );
  counter('gateway_node_link_bytes_total', 'Bytes of the visits that other nodes have sent.', [], () => [
    [{}, count('bytes')],
  ]);
}

// What a worker reads of the control process: the configuration of edges, subscriptions to traffic events, and the other nodes.

import type { EdgeConfigSource } from '../edge/edges/edge-config.ts';
import type { TrafficStore } from '../events/traffic/store.ts';
import { cachedNodeSource, type NodeSource } from '../tunnel/control/nodes.ts';
import type { WorkerCalls } from './calls.ts';
import type { ControlClient } from './control-client.ts';

/** How long the other nodes are waited for while the control process is being replaced; milliseconds. */
const NODES_WAIT_MS = 2000;

export class RemoteSources {
  readonly #client: () => ControlClient;
  readonly #onEdges = new Set<(ids: readonly string[] | null) => Promise<void>>();
  readonly #onTrafficSources = new Set<() => unknown>();
  /** The port in the URLs of edges, once it is known. */
  #publicHttpsPort: number | undefined;

  constructor(client: () => ControlClient) {
    this.#client = client;
  }

  /** What the control process tells. */
  readonly told: Pick<WorkerCalls, 'edgesChanged' | 'trafficSourcesChanged'> = {
    edgesChanged: async (ids) => {
      await Promise.all([...this.#onEdges].map((listener) => listener(ids)));
    },
    trafficSourcesChanged: async () => {
      await Promise.all([...this.#onTrafficSources].map((listener) => listener()));
    },
  };

  /** To be called when another control process has taken over. */
  attachedAgain(): void {
    const open = this.#publicHttpsPort === undefined ? Promise.resolve() : this.openEdges(this.#publicHttpsPort);
    void open.then(() => this.told.edgesChanged(null)).catch(() => undefined); // It is lost again, and this is called again.
    void this.told.trafficSourcesChanged();
  }

  async openEdges(publicHttpsPort: number): Promise<void> {
    this.#publicHttpsPort = publicHttpsPort;
    await this.#client().call('openEdges', publicHttpsPort);
  }

  readonly edges: EdgeConfigSource = {
    load: async (ids) => {
      const loaded = await this.#client().call('loadEdges', ids);
      return {
        ...loaded,
        applied: () =>
          void this.#client()
            .call('edgesApplied')
            .catch(() => undefined),
      };
    },
    onChange: (listener) => {
      this.#onEdges.add(listener);
      return () => this.#onEdges.delete(listener);
    },
  };

  readonly traffic: TrafficStore = {
    sources: () => this.#client().call('trafficSources'),
    onSourcesChange: (listener) => {
      this.#onTrafficSources.add(listener);
      return () => this.#onTrafficSources.delete(listener);
    },
    append: (...args) => this.#client().call('appendTraffic', ...args),
  };

  readonly nodes: NodeSource = cachedNodeSource(() => this.#client().callWithin(NODES_WAIT_MS, 'otherNodes'));
}

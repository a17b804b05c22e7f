// What a worker reads of the control process: the configuration of edges, captures, secrets, IP restrictions, subscriptions to traffic
// events, and the other nodes.

import type { CaptureSource } from '../capture/stored-capture.ts';
import type { EdgeConfigSource, PublicPorts } from '../edge/edges/edge-config.ts';
import type { TrafficStatsStore } from '../edge/metrics/traffic-stats-store.ts';
import type { RestrictionSource } from '../edge/restrictions/restriction-source.ts';
import type { SecretSource } from '../edge/vaults/secret-source.ts';
import type { TrafficStore } from '../events/traffic/store.ts';
import type { VisitorSessionSource } from '../http/visitor-sessions.ts';
import { cachedNodeSource, type NodeSource } from '../tunnel/control/nodes.ts';
import type { WorkerCalls } from './calls.ts';
import type { ControlClient } from './control-client.ts';

/** How long the other nodes are waited for while the control process is being replaced; milliseconds. */
const NODES_WAIT_MS = 2000;

export class RemoteSources {
  readonly #client: () => ControlClient;
  readonly #onEdges = new Set<(ids: readonly string[] | null) => Promise<void>>();
  readonly #onCaptures = new Set<(ids: readonly string[] | null) => Promise<void>>();
  readonly #onSecrets = new Set<(accountIds: readonly string[] | null) => Promise<void>>();
  readonly #onRestrictions = new Set<(accountIds: readonly string[] | null) => Promise<void>>();
  readonly #onTrafficSources = new Set<() => unknown>();
  readonly #onVisitorSessions = new Set<(ids: readonly string[] | undefined) => Promise<void>>();
  /** The port in the URLs of edges, once it is known. */
  #publicPorts: PublicPorts | undefined;

  constructor(client: () => ControlClient) {
    this.#client = client;
  }

  /** What the control process tells. */
  readonly told: Pick<
    WorkerCalls,
    | 'edgesChanged'
    | 'capturesChanged'
    | 'secretsChanged'
    | 'restrictionsChanged'
    | 'trafficSourcesChanged'
    | 'visitorSessionsEnded'
  > = {
    edgesChanged: async (ids) => {
      await Promise.all([...this.#onEdges].map((listener) => listener(ids)));
    },
    capturesChanged: async (ids) => {
      await Promise.all([...this.#onCaptures].map((listener) => listener(ids)));
    },
    secretsChanged: async (accountIds) => {
      await Promise.all([...this.#onSecrets].map((listener) => listener(accountIds)));
    },
    restrictionsChanged: async (accountIds) => {
      await Promise.all([...this.#onRestrictions].map((listener) => listener(accountIds)));
    },
    trafficSourcesChanged: async () => {
      await Promise.all([...this.#onTrafficSources].map((listener) => listener()));
    },
    visitorSessionsEnded: (ids) => this.#onVisitorSessions.forEach((listener) => void listener(ids)),
  };

  /** To be called when another control process has taken over. */
  attachedAgain(): void {
    const open = this.#publicPorts ? this.openEdges(this.#publicPorts) : Promise.resolve();
    void open.then(() => this.told.edgesChanged(null)).catch(() => undefined); // It is lost again, and this is called again.
    void this.told.capturesChanged(null);
    void this.told.secretsChanged(null);
    void this.told.restrictionsChanged(null);
    void this.told.trafficSourcesChanged();
    this.told.visitorSessionsEnded(undefined);
  }

  async openEdges(ports: PublicPorts): Promise<void> {
    this.#publicPorts = ports;
    await this.#client().call('openEdges', ports.publicHttpsPort, ports.publicHttpPort);
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
    findChallenge: (request) => this.#client().call('findChallenge', request),
    challengeHolder: (name) => this.#client().call('challengeHolder', name),
  };

  readonly captures: CaptureSource = {
    load: (ids) => this.#client().call('loadCaptures', ids),
    onChange: (listener) => {
      this.#onCaptures.add(listener);
      return () => this.#onCaptures.delete(listener);
    },
  };

  readonly secrets: SecretSource = {
    load: (accountIds) => this.#client().call('loadSecrets', accountIds),
    onChange: (listener) => {
      this.#onSecrets.add(listener);
      return () => this.#onSecrets.delete(listener);
    },
  };

  readonly restrictions: RestrictionSource = {
    load: (accountIds) => this.#client().call('loadRestrictions', accountIds),
    onChange: (listener) => {
      this.#onRestrictions.add(listener);
      return () => this.#onRestrictions.delete(listener);
    },
  };

  readonly traffic: TrafficStore = {
    sources: () => this.#client().call('trafficSources'),
    onSourcesChange: (listener) => {
      this.#onTrafficSources.add(listener);
      return () => this.#onTrafficSources.delete(listener);
    },
    append: (destinationId, events, dropped) => this.#client().call('appendTraffic', destinationId, events, dropped),
  };

  readonly figures: TrafficStatsStore = { append: (bucket) => this.#client().call('appendFigures', bucket) };

  readonly visitorSessions: VisitorSessionSource = {
    find: (...args) => this.#client().call('findVisitorSession', ...args),
    begin: (...args) => this.#client().call('beginSignIn', ...args),
    // The code of an answer can be redeemed only once.
    finish: (...args) => this.#client().callOnce('finishSignIn', ...args),
    end: (...args) => this.#client().call('endVisitorSession', ...args),
    ended: (ids) => this.#client().call('endedVisitorSessions', ids),
    onEnded: (listener) => {
      this.#onVisitorSessions.add(listener);
      return () => this.#onVisitorSessions.delete(listener);
    },
  };

  readonly nodes: NodeSource = cachedNodeSource(() => this.#client().callWithin(NODES_WAIT_MS, 'otherNodes'));
}

// The edges that are live on this node: what the control plane has configured, as endpoints among those of tunnels.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CircuitBreakerSnapshot } from '../../http/circuit-breaker.ts';
import { IncrementalCompilation } from '../../policy/cel/compilation.ts';
import {
  type EndpointAddress,
  type EndpointRegistry,
  hasTcpPort,
  isInternalName,
} from '../../tunnel/endpoints/endpoint-registry.ts';
import type { ModuleSettings } from '../modules/descriptor.ts';
import { endsTlsBySettings } from '../modules/tls.ts';
import { backendTunnels } from './backend.ts';
import { ConnectionEdgeRuntime } from './connection-edge.ts';
import { DomainCertificates } from './domain-certificates.ts';
import { type EdgeConfig, type EdgeConfigSource, type EdgeConfigs, protoOf } from './edge-config.ts';
import { EdgeEndpoint } from './edge-endpoint.ts';
import type { EdgeRuntimeDeps } from './edge-runtime-deps.ts';
import { HttpsEdgeRuntime } from './https-edge.ts';
import { ReloadQueue, type Scope } from './reload-queue.ts';

export interface LiveEdgesOptions extends EdgeRuntimeDeps {
  source: EdgeConfigSource;
  /** Told when what is configured cannot be loaded: what was there goes on, and it is tried again until it works. */
  onFailure(error: unknown): void;
  /** How long until then, in milliseconds. */
  retryMs?: number;
}

interface EdgeRuntime {
  fingerprint: string;
  rules: HttpsEdgeRuntime | ConnectionEdgeRuntime;
  /** The names that it alone answers. */
  keys: readonly string[];
  endpoints: EdgeEndpoint[];
}

/** The names that one edge alone answers, with their ports. */
function keysOf({ names, cloud, accountId }: EdgeConfig): string[] {
  const keys = names.map(({ hostname, port = 443 }) => `${hostname}:${port}`);
  if (!cloud || cloud.isPooled) return keys;
  const key = `${cloud.hostname}:${cloud.port}`;
  return [...keys, isInternalName(cloud.hostname) ? `${accountId} ${cloud.proto} ${key}` : key];
}

/** The modules of what is not as it was, each with its key. */
function changedModules(edge: EdgeConfig, before: HttpsEdgeRuntime | undefined): [string, ModuleSettings][] {
  const hosts = edge.kind !== 'https' ? [edge] : edge.routes.filter((route) => !before?.has(route, edge.modules));
  const all = hosts.flatMap(({ modules }) => Object.entries(modules));
  return all.flatMap(([key, settings]) => (settings?.enabled ? [[key, settings] as [string, ModuleSettings]] : []));
}

function isUnfinished(compilation: IncrementalCompilation, work: () => unknown): boolean {
  try {
    return compilation.step(work) === undefined;
  } catch {
    return false; // It is told of where it is applied.
  }
}

export class LiveEdges {
  readonly #options: LiveEdgesOptions;
  readonly #endpoints: EndpointRegistry;
  readonly #reloads: ReloadQueue;
  readonly #certificates = new DomainCertificates();
  /** By the id of the edge. */
  readonly #runtimes = new Map<string, EdgeRuntime>();
  /** The edge of each route. */
  readonly #edgeOfRoute = new Map<string, string>();
  /** The edge that answers a name, or a TCP port. */
  readonly #edgeOfName = new Map<string, string>();
  readonly #onApplied: (() => void | Promise<void>)[] = [];
  #agentNames: ReadonlySet<string> = new Set();
  #stop = () => {};

  constructor(options: LiveEdgesOptions) {
    const { onFailure, retryMs } = options;
    this.#options = options;
    this.#endpoints = options.endpoints;
    this.#reloads = new ReloadQueue({ work: (scope) => this.#load(scope), onFailure, retryMs });
  }

  /** Calls the listener whenever what is live may have changed. It counts as live when the promise is settled. */
  onApplied(listener: () => void | Promise<void>): void {
    this.#onApplied.push(listener);
  }

  /** Done when all that is configured is live, which from then on it stays. */
  start(): Promise<void> {
    this.#stop = this.#options.source.onChange((scope) => this.#reloads.ask(scope));
    return this.#reloads.ask(null);
  }

  /** Follows no changes any more. What is live stays so. */
  close(): void {
    this.#stop();
    this.#reloads.close();
  }

  /** The certificate of a domain that has a name: for the very name, else for the wildcard one label above. */
  certificateFor(name: string): { cert: string; key: string } | undefined {
    return this.#certificates.find(name);
  }

  /** The certificate that was obtained for a name of the gateway's own, while it is in force. */
  ownCertificateFor(name: string): { cert: string; key: string } | undefined {
    const found = this.#certificates.find(name);
    const { accountId, notAfter = Number.POSITIVE_INFINITY } = found ?? {};
    return accountId === '' && notAfter > Date.now() ? found : undefined;
  }

  /** Whether agents connect by this name, besides the gateway's own. */
  isAgentName(name: string): boolean {
    return this.#agentNames.has(name);
  }

  /** The ports of TCP edges and of cloud endpoints, which are to be listened at. */
  get tcpPorts(): number[] {
    const runtimes = [...this.#runtimes.values()];
    return runtimes.flatMap(({ endpoints }) => endpoints.filter(hasTcpPort).map(({ port }) => port));
  }

  /** The circuit breaker of a route; undefined when it has none, or none that is on. */
  breaker(routeId: string): CircuitBreakerSnapshot | undefined {
    const runtime = this.#runtimes.get(this.#edgeOfRoute.get(routeId) ?? '');
    return runtime?.rules instanceof HttpsEdgeRuntime
      ? runtime.rules.routes.get(routeId)?.breaker?.snapshot()
      : undefined;
  }

  async #load(scope: Scope): Promise<void> {
    const { source } = this.#options;
    let ids = scope;
    let loaded = await source.load(ids);
    // Of a change elsewhere by which an edge lost a name, word may come later than of the one by which another got it.
    for (let losers = this.#losers(loaded); ids && losers.length > 0; losers = this.#losers(loaded)) {
      ids = [...ids, ...losers];
      loaded = await source.load(ids);
    }
    const compiled = await this.#compiled(loaded.edges);
    compiled.finish(() => this.#apply(loaded));
    loaded.applied();
    for (const listener of this.#onApplied) await listener();
  }

  /** Edges that answer, here, names of those that were loaded, and were not looked at. */
  #losers({ edgeIds, edges }: EdgeConfigs): string[] {
    const loaded = new Set(edgeIds ?? this.#runtimes.keys());
    const holders = edges.flatMap((edge) => keysOf(edge).flatMap((key) => this.#edgeOfName.get(key) ?? []));
    return [...new Set(holders)].filter((id) => !loaded.has(id));
  }

  /** What of it takes long, done before: piece by piece, as visitors of others go on meanwhile. */
  async #compiled(edges: readonly EdgeConfig[]): Promise<IncrementalCompilation> {
    const { descriptors, environment } = this.#options;
    const compilation = new IncrementalCompilation();
    for (const edge of edges) {
      const before = this.#runtimes.get(edge.id);
      if (before?.fingerprint === JSON.stringify(edge)) continue;
      const known = before?.rules instanceof HttpsEdgeRuntime ? before.rules : undefined;
      for (const [key, settings] of changedModules(edge, known)) {
        const descriptor = descriptors.find((one) => one.key === key);
        await descriptor?.load?.();
        if (!descriptor?.isCompiled) continue;
        const owner = { accountId: edge.accountId, proto: protoOf(edge) };
        const work = () => descriptor.create(settings, owner, environment);
        do await nextTurn();
        while (isUnfinished(compilation, work));
      }
    }
    return compilation;
  }

  /** At once, as far as visitors can see. */
  #apply({ edgeIds, edges, domainIds, certificates, agentNames }: EdgeConfigs): void {
    if (agentNames) this.#agentNames = new Set(agentNames);
    const configured = new Set(edges.map(({ id }) => id));
    for (const id of edgeIds ?? [...this.#runtimes.keys()]) if (!configured.has(id)) this.#remove(id);
    // First all that goes: a name may go from one edge to another.
    const changed = edges.flatMap((config) => {
      const fingerprint = JSON.stringify(config);
      const before = this.#runtimes.get(config.id);
      if (before?.fingerprint === fingerprint) return [];
      this.#remove(config.id);
      return { config, fingerprint, before };
    });
    for (const { config, fingerprint, before } of changed) this.#add(config, fingerprint, before);
    this.#certificates.replace(domainIds, certificates);
  }

  #add(config: EdgeConfig, fingerprint: string, before: EdgeRuntime | undefined): void {
    const { id, accountId, kind, names, cloud } = config;
    const { publicPorts } = this.#options;
    const rules = this.#rulesOf(config, before);
    const pick = kind === 'https' ? undefined : backendTunnels(config.backend, accountId, kind, this.#options);
    const tls = kind !== 'https' && !endsTlsBySettings(config.modules) ? 'passthrough' : 'gateway';
    const meterOf = ({ endpointId }: { endpointId: string }) =>
      before?.endpoints.find(({ id }) => id === endpointId)?.meter;
    const { lookup } = this.#options;
    const isServed = (address: EndpointAddress) =>
      this.#endpoints.healthyAt(address) > 0 || lookup.isServedElsewhere(address);
    const common = { edgeId: id, accountId, proto: protoOf(config), publicPorts, tls, rules, isServed, pick } as const;
    const endpoints = [...names, ...(cloud ? [cloud] : [])].map(
      (name) => new EdgeEndpoint(name, common, meterOf(name)),
    );
    const keys = keysOf(config);
    this.#runtimes.set(id, { fingerprint, rules, keys, endpoints });
    for (const key of keys) this.#edgeOfName.set(key, id);
    for (const endpoint of endpoints) this.#endpoints.add(endpoint);
    if (rules instanceof HttpsEdgeRuntime)
      for (const routeId of rules.routes.keys()) this.#edgeOfRoute.set(routeId, id);
  }

  #rulesOf(config: EdgeConfig, before: EdgeRuntime | undefined): HttpsEdgeRuntime | ConnectionEdgeRuntime {
    if (config.kind !== 'https') return new ConnectionEdgeRuntime(config, this.#options);
    const known = before?.rules instanceof HttpsEdgeRuntime ? before.rules : undefined;
    return new HttpsEdgeRuntime(config, known, this.#options);
  }

  #remove(id: string): void {
    const runtime = this.#runtimes.get(id);
    if (!runtime) return;
    this.#runtimes.delete(id);
    if (runtime.rules instanceof HttpsEdgeRuntime)
      for (const routeId of runtime.rules.routes.keys()) this.#edgeOfRoute.delete(routeId);
    for (const key of runtime.keys) this.#edgeOfName.delete(key);
    for (const endpoint of runtime.endpoints) {
      endpoint.close();
      this.#endpoints.remove(endpoint);
    }
  }
}

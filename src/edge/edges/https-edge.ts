// What an HTTPS edge does: each request takes a route, through the modules of that to one of its tunnels.

import type { CircuitBreaker } from '../../http/circuit-breaker.ts';
import type { HttpModule, TlsParameters } from '../../http/module.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';
import type { Proto } from '../../tunnel/endpoints/endpoint.ts';
import { TrafficMeter } from '../../tunnel/endpoints/traffic-meter.ts';
import { createModules } from '../http-modules.ts';
import type { CountedRoute } from '../metrics/request-counter.ts';
import type { ModulesSettings } from '../modules/descriptor.ts';
import { ModuleCache } from '../modules/module-cache.ts';
import type { EndpointRules, HttpRoute } from '../pipeline/rules/endpoint-rules.ts';
import { ModuleChain } from '../pipeline/rules/module-chain.ts';
import { ownPathRoute, type SigningRoute, signInsOf } from '../pipeline/rules/own-paths.ts';
import { asHttp1Endpoint } from '../upstream/http2/http1-adapter.ts';
import { backendUpstreams, type PickedUpstream } from './backend.ts';
import { type HttpsEdgeConfig, protoOf, type RouteConfig } from './edge-config.ts';
import { type EdgeRuntimeDeps, reasonOf } from './edge-runtime-deps.ts';
import { Routing } from './routing.ts';
import { tlsParametersOf } from './tls-parameters.ts';

/** A route that is live, with what its modules remember of its visitors. */
export interface LiveRoute extends SigningRoute {
  /** Equal ones do the same. */
  readonly fingerprint: string;
  readonly breaker: CircuitBreaker | undefined;
  readonly backend: string;
  readonly kept: ModuleCache;
  readonly counted: CountedRoute | undefined;
  readonly isBroken?: boolean;
  /** As of `HttpModule`; none where others serve some visitors. */
  readonly servedOnlyBy: readonly string[];
}

export class HttpsEdgeRuntime implements EndpointRules {
  readonly connection = [];
  readonly tls: TlsParameters | undefined;
  readonly routes: ReadonlyMap<string, LiveRoute>;
  readonly #routing: Routing<LiveRoute>;
  /** The routes at which visitors sign in. */
  readonly #signing: readonly LiveRoute[];
  /** When the edge as a whole cannot be served, all that it answers with. */
  readonly #broken: LiveRoute | undefined;

  /** @param before what the edge was until now: what has not changed stays, with all that it remembers. */
  constructor(config: HttpsEdgeConfig, before: HttpsEdgeRuntime | undefined, parts: EdgeRuntimeDeps) {
    const { id, modules } = config;
    const { descriptors, environment } = parts;
    const owner = { accountId: config.accountId, proto: protoOf(config) };
    try {
      if (config.failure !== undefined) throw new Error(config.failure);
      const terms = tlsParametersOf('https', createModules(descriptors, modules, owner, environment).tls);
      const isSame = JSON.stringify(terms) === JSON.stringify(before?.tls);
      this.tls = isSame ? before?.tls : terms; // Connections are bound to the very terms that they were made under.
    } catch (error) {
      parts.onBroken(id, error);
      this.#broken = brokenRoute('', undefined, error);
    }
    const routed = config.routes.map((route) => {
      const fingerprint = fingerprintOf(route, modules);
      const known = before?.routes.get(route.id);
      const live =
        known?.fingerprint === fingerprint
          ? known
          : liveRoute({ ...route, modules: { ...modules, ...route.modules } }, fingerprint, known, owner, parts);
      return { ...route, route: live };
    });
    this.routes = new Map(routed.map(({ id, route }) => [id, route]));
    this.#routing = new Routing(routed);
    this.#signing = [...this.routes.values()].filter(({ signIns }) => signIns.length > 0);
  }

  /** Whether a route is live as it is configured. */
  has(route: RouteConfig, modules: ModulesSettings): boolean {
    return this.routes.get(route.id)?.fingerprint === fingerprintOf(route, modules);
  }

  /** Whether it turns every visitor away. */
  get isBroken(): boolean {
    const routes = [...this.routes.values()];
    return this.#broken !== undefined || (routes.length > 0 && routes.every((route) => route.isBroken));
  }

  /** The URLs of the internal endpoints that serve all visitors; none where others serve some, as on edges with several routes. */
  get servedOnlyBy(): readonly string[] {
    const [route, another] = this.routes.values();
    return route && !another ? route.servedOnlyBy : [];
  }

  route(target: string): HttpRoute | VisitorError {
    const ownRoute = ownPathRoute(target, this.#signing, (other) => this.#routing.find(other));
    const route: HttpRoute | VisitorError = this.#broken ?? ownRoute ?? this.#routing.find(target) ?? 'noRoute';
    return typeof route === 'object' && route.chain?.isMisled(target) ? 'ambiguousPath' : route;
  }
}

/** What is done to the requests of a route: what it says itself, and which modules of its edge act on them. */
function fingerprintOf(route: RouteConfig, ofEdge: ModulesSettings): string {
  return JSON.stringify([route, Object.keys(ofEdge).filter((key) => ofEdge[key]?.enabled)]);
}

function liveRoute(
  { id, backend, modules: settings, isCloud, failure }: RouteConfig,
  fingerprint: string,
  before: LiveRoute | undefined,
  owner: { accountId: string; proto: Proto },
  parts: EdgeRuntimeDeps,
): LiveRoute {
  const { environment, descriptors, onBroken } = parts;
  // Whether one backend fails says nothing of another.
  const place = JSON.stringify(backend ?? null);
  const kept = new ModuleCache(before?.backend === place ? before.kept : undefined);
  // A cloud endpoint is counted as a whole.
  const counted = isCloud ? undefined : (before?.counted ?? { id, meter: new TrafficMeter() });
  try {
    if (failure !== undefined) throw new Error(failure);
    const scope = () => `${id} ${place}`;
    const created = createModules(descriptors, settings, { ...owner, scope }, environment, kept);
    const { modules, breaker, connection, convertsWebsockets } = created;
    if (before?.breaker !== breaker) before?.breaker?.leave();
    if (connection.some(({ name }) => name === 'traffic_policy'))
      throw new Error('the traffic policy of a route cannot have rules for connections');
    const pick = backendUpstreams(backend, owner.accountId, parts);
    const reached = (found: PickedUpstream) =>
      !found ? 'backendOffline' : 'kind' in found ? found : asHttp1Endpoint(found);
    return {
      ...(!isCloud && { id }),
      fingerprint,
      breaker,
      backend: place,
      kept,
      counted,
      signIns: signInsOf(modules),
      chain: modules.length > 0 ? new ModuleChain(modules) : undefined,
      convertsWebsockets,
      servedOnlyBy: modules.flatMap(({ servedOnlyBy = [] }) => servedOnlyBy),
      upstream() {
        if (!pick) return isCloud ? 'noAnswer' : 'noBackend';
        const found = pick();
        return found instanceof Promise ? found.then(reached) : reached(found);
      },
    };
  } catch (error) {
    onBroken(id, error);
    return { ...brokenRoute(fingerprint, counted, error), ...(!isCloud && { id }) };
  }
}

/** Turns everybody away; the log says why. */
function brokenRoute(fingerprint: string, counted: CountedRoute | undefined, error: unknown): LiveRoute {
  const module: HttpModule = {
    name: 'edge',
    onRequest: () => ({ kind: 'refuse', error: 'moduleFailed', reason: reasonOf(error) }),
  };
  const chain = new ModuleChain([module]);
  return {
    fingerprint,
    breaker: undefined,
    backend: '',
    kept: new ModuleCache(),
    counted,
    signIns: [],
    chain,
    convertsWebsockets: false,
    isBroken: true,
    servedOnlyBy: [],
    upstream: () => 'moduleFailed',
  };
}

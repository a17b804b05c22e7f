// What all nodes together know of traffic, for the API.

import type { TrafficState } from '../api/dependencies.ts';
import { ClusterQuery } from '../cluster/cluster-query.ts';
import type { CircuitBreakerSnapshot } from '../http/circuit-breaker.ts';
import type { EndpointTrafficSnapshot } from '../tunnel/endpoints/endpoint-registry.ts';
import type { RoundTrip } from '../tunnel/session/session-types.ts';
import type { TrafficPlane } from './data-plane-types.ts';

export function trafficState({
  cluster,
  edges,
  endpoints,
  sessions,
}: Pick<TrafficPlane, 'cluster' | 'edges' | 'endpoints' | 'sessions'>): TrafficState {
  const breakers = new ClusterQuery('breaker', (id) => edges.breaker(id), cluster);
  // Visitors are counted at the node that they came to, whichever has the tunnel.
  const trafficHere = (id: string) => sum([endpoints.trafficOf(id), cluster?.lookup.tunnels.meters.trafficOf(id)]);
  const traffic = new ClusterQuery('endpointTraffic', trafficHere, cluster);
  const roundTrips = new ClusterQuery('roundTrip', (id) => sessions.roundTrip(id), cluster);
  const refusals = new ClusterQuery('announcedRefusals', (id) => sessions.announcedRefusals(id), cluster);
  return {
    async circuitBreaker(routeId) {
      const { values, isPartial } = await breakers.ask(routeId);
      const breaker = combined(values);
      return breaker ? { ...breaker, isPartial } : null;
    },
    async endpointTraffic(id) {
      const { values, isPartial } = await traffic.ask(id);
      const all = sum(values);
      return all ? { ...all, isPartial } : null;
    },
    async announcedRefusals(sessionId) {
      const { values } = await refusals.ask(sessionId);
      return values[0] ?? null;
    },
    async newestRoundTrip(sessionIds) {
      const known = await Promise.all(sessionIds.map((id) => roundTrips.ask(id)));
      const newest = known
        .flatMap(({ values }) => values)
        .reduce<RoundTrip | undefined>((best, each) => (best && best.at >= each.at ? best : each), undefined);
      if (!newest) return null;
      // A session is at one node, so nobody else knows more of one that was found.
      const isPartial = known.some((each) => each.isPartial && each.values.length === 0);
      return { ...newest, isPartial: cluster ? isPartial : null };
    },
  };
}

function sum(values: readonly (EndpointTrafficSnapshot | undefined)[]): EndpointTrafficSnapshot | undefined {
  const known = values.filter((value) => value !== undefined);
  const [first] = known;
  if (!first) return undefined;
  const total = (count: Exclude<keyof EndpointTrafficSnapshot, 'endpointId' | 'accountId'>) =>
    known.reduce((all, each) => all + each[count], 0);
  return {
    endpointId: first.endpointId,
    accountId: first.accountId,
    requests: total('requests'),
    openConnections: total('openConnections'),
    requestsPerSecond: total('requestsPerSecond'),
    bytesInPerSecond: total('bytesInPerSecond'),
    bytesOutPerSecond: total('bytesOutPerSecond'),
  };
}

/** The states from the one that says least. */
const STATES = ['closed', 'open', 'probing'] as const;

function combined(breakers: readonly CircuitBreakerSnapshot[]): CircuitBreakerSnapshot | undefined {
  if (breakers.length === 0) return undefined;
  const state = STATES.findLast((each) => breakers.some((breaker) => breaker.state === each)) ?? 'closed';
  const waits = breakers.flatMap(({ openUntil }) => openUntil ?? []);
  return {
    state,
    requests: breakers.reduce((all, { requests }) => all + requests, 0),
    failures: breakers.reduce((all, { failures }) => all + failures, 0),
    openUntil: state === 'open' ? Math.min(...waits) : undefined,
  };
}

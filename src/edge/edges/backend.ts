// A backend: the tunnels that have its labels, an address, or one of other backends. Tunnels of this node come first, and where it
// has none, those of others. Each node connects to addresses itself.

import type { Responded } from '../../http/module.ts';
import type { Labels, LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { EdgeProto } from '../../tunnel/endpoints/tunnel-group.ts';
import { AddressEndpoint } from '../dialing/address-endpoint.ts';
import { chooseBackend } from './backend-choice.ts';
import type { BackendConfig } from './edge-config.ts';
import type { EdgeRuntimeDeps } from './edge-runtime-deps.ts';

/** Picks the tunnel whose turn it is, or an address; undefined when none is online. A promise only when other nodes are asked. */
export type PickTunnel = () => LiveEndpoint | undefined | Promise<LiveEndpoint | undefined>;

/** Picks what serves a visit: a tunnel, an address, or a response that is always the same; undefined when nothing is online. */
export type PickUpstream = () => PickedUpstream | Promise<PickedUpstream>;
export type PickedUpstream = LiveEndpoint | Responded | undefined;

type Deps = Pick<EdgeRuntimeDeps, 'endpoints' | 'lookup' | 'random' | 'dialer'>;

/** What serves the requests of a route. @returns undefined when there is no backend, or it is disabled. */
export function backendUpstreams(
  backend: BackendConfig | undefined,
  accountId: string,
  deps: Deps,
): PickUpstream | undefined {
  if (!backend?.enabled) return undefined;
  const tunnels = (labels: Labels) => groupTunnels(labels, accountId, 'https', deps);
  if (!backend.choice) return tunnels(backend.labels);
  return chooseBackend<LiveEndpoint | Responded>(backend.choice, {
    tunnels,
    address: (node) => new AddressEndpoint(node, accountId, 'https', deps.dialer),
    response: fixedResponse,
    random: deps.random,
  });
}

/** What serves the connections of an edge: tunnels and addresses. @returns undefined when there is no backend, or it is disabled. */
export function backendTunnels(
  backend: BackendConfig | undefined,
  accountId: string,
  proto: EdgeProto,
  deps: Deps,
): PickTunnel | undefined {
  if (!backend?.enabled) return undefined;
  const tunnels = (labels: Labels) => groupTunnels(labels, accountId, proto, deps);
  if (!backend.choice) return tunnels(backend.labels);
  return chooseBackend<LiveEndpoint>(backend.choice, {
    tunnels,
    address: (node) => new AddressEndpoint(node, accountId, proto, deps.dialer),
    response: () => undefined,
    random: deps.random,
  });
}

function groupTunnels(labels: Labels, accountId: string, proto: EdgeProto, { endpoints, lookup }: Deps): PickTunnel {
  const group = endpoints.group(accountId, labels);
  if (!lookup.reachesNodes) return () => group.pick(proto);
  return () => group.pick(proto) ?? lookup.resolveLabels(accountId, labels, proto);
}

/** Without a media type, browsers would guess one from the body (RFC 9110, section 8.3). */
const TEXT = ['content-type', 'text/plain; charset=utf-8'] as const;

function fixedResponse(response: {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}): Responded {
  const fields = Object.entries(response.headers);
  const isTyped = response.body === '' || fields.some(([name]) => name.toLowerCase() === 'content-type');
  const body = Buffer.from(response.body);
  return { kind: 'answer', status: response.status, fields: isTyped ? fields : [TEXT, ...fields], body };
}

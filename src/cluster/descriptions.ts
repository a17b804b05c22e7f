// What nodes tell each other of their tunnels: all that another node needs to serve visitors of a tunnel as its own node would.

import type { LiveEndpoint, Proto, RequestedModules } from '../tunnel/endpoints/endpoint.ts';
import type { EndpointRegistry } from '../tunnel/endpoints/endpoint-registry.ts';
import type { CallHandler, NodeLink } from './node-link.ts';

/** The methods of links, and how long their answers may take in milliseconds. */
export const DESCRIBE = 'describe';
export const CHANGED = 'changed';
const CHANGED_TIMEOUT_MS = 2000;

const ADDRESS = ['id', 'tunnelId', 'accountId', 'proto', 'hostname', 'port', 'publicUrl'] as const;
const SERVICE = ['upstreamProtocol', 'sharesConnections', 'forwardsTo', 'tls'] as const;
type Described = Pick<LiveEndpoint, (typeof ADDRESS)[number] | (typeof SERVICE)[number]>;

/** A tunnel, as its node describes it. */
export interface TunnelDescription extends Described {
  modules: RequestedModules;
  /** The rules of its credential's ACL, which also bound where its policy forwards to. */
  acl: readonly string[];
}

/** Asks for a tunnel. `proto` says as which kind of endpoint a labelled one is to serve. */
export interface DescribeRequest {
  tunnelId: string;
  proto: Proto;
}

export interface DescribeResponse {
  /** Null when this node has no such tunnel. */
  tunnel: TunnelDescription | null;
}

export interface ChangedRequest {
  tunnelIds: string[];
}

export function describe(endpoint: LiveEndpoint): TunnelDescription {
  const { modules = {}, allowance } = endpoint.requested ?? {};
  const described = Object.fromEntries(
    [...ADDRESS, ...SERVICE].map((key) => [key, endpoint[key]]),
  ) as unknown as Described;
  return { ...described, modules, acl: allowance?.acl ?? [] };
}

/** Whether both are served in the same way: a visitor of one may be sent to the other. */
export function isSameService(one: TunnelDescription, other: TunnelDescription): boolean {
  const of = ({ accountId, proto, tls, modules }: TunnelDescription) =>
    JSON.stringify([accountId, proto, tls, modules]);
  return of(one) === of(other);
}

/** The tunnels of this node, as far as others know them. */
export interface DescribedTunnels {
  /** The handlers of the calls of other nodes. */
  methods: [method: string, handler: CallHandler][];
  /**
   * Lets the others ask for all tunnels anew. From then on they use no stream for another request.
   * @returns a promise that resolves when all of them know. It never rejects.
   */
  forgetAll(): Promise<void>;
  /** As `forgetAll`, and describes no tunnel any more: none gets a visit of another node from then on. */
  withdrawAll(): Promise<void>;
}

/** Describes the tunnels of this node to others, and tells those others when what they know has changed. */
export function describeOwnTunnels(endpoints: EndpointRegistry): DescribedTunnels {
  /** The tunnels that the other end of each link knows. */
  const known = new Map<NodeLink, Set<string>>();
  const changed = new Map<NodeLink, string[]>();
  let isWithdrawn = false;

  const sendChanges = async () => {
    const calls = [...changed].map(([link, tunnelIds]) =>
      // Whoever does not hear of it must not go on with what it knows.
      link.call(CHANGED, { tunnelIds } satisfies ChangedRequest, CHANGED_TIMEOUT_MS).catch(() => link.close()),
    );
    changed.clear();
    await Promise.all(calls);
  };

  const report = (tunnelId: string) => {
    for (const [link, tunnels] of known) {
      if (!tunnels.delete(tunnelId)) continue;
      if (changed.size === 0) setImmediate(() => void sendChanges());
      const tunnelIds = changed.get(link);
      if (tunnelIds) tunnelIds.push(tunnelId);
      else changed.set(link, [tunnelId]);
    }
  };
  endpoints.onChange(report);

  const onDescribe: CallHandler = async (body, link): Promise<DescribeResponse> => {
    const { tunnelId, proto } = body as DescribeRequest;
    const endpoint = isWithdrawn ? undefined : endpoints.byTunnelId(tunnelId, proto);
    if (!endpoint?.isOpen) return { tunnel: null };
    let tunnels = known.get(link);
    if (!tunnels) {
      tunnels = new Set();
      known.set(link, tunnels);
      link.onClosed(() => known.delete(link));
    }
    tunnels.add(tunnelId);
    return { tunnel: describe(endpoint) };
  };
  const forgetAll = () => {
    for (const tunnelId of new Set([...known.values()].flatMap((tunnels) => [...tunnels]))) report(tunnelId);
    return sendChanges();
  };
  return {
    methods: [[DESCRIBE, onDescribe]],
    forgetAll,
    withdrawAll() {
      isWithdrawn = true;
      return forgetAll();
    },
  };
}

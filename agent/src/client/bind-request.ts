// The bind requests of a tunnel.

import type { writeBind } from '@gateway/protocol';
import type { LabelTunnelSpec, Resumption, TunnelSpec } from '../gateway-client.ts';
import { GatewayRefusal } from './gateway-refusal.ts';
import type { GatewaySession } from './gateway-session.ts';

type BindRequest = Parameters<typeof writeBind>[0];

/** A tunnel that is to be bound. */
interface BindingTunnel {
  /** Whether it is still wanted. */
  isWanted(): boolean;
  /** Whether a session serves it already. */
  isServed(): boolean;
}

/** The requests to bind one tunnel in the sessions of a client, so that all of them serve the same tunnel. */
export class BindRequests {
  readonly #spec: TunnelSpec | LabelTunnelSpec;
  #resumption: Resumption | null;
  /** Resolves when the session that requests a new tunnel has its response. Other sessions wait, and join that tunnel. */
  #newTunnel: Promise<void> | undefined;

  constructor(spec: TunnelSpec | LabelTunnelSpec) {
    this.#spec = spec;
    this.#resumption = 'labels' in spec ? null : spec.resume;
  }

  /** The resumption of the tunnel; null before the first accepted bind. That of a tunnel with labels has an empty URL. */
  get resumption(): Resumption | null {
    return this.#resumption;
  }

  /**
   * Binds the tunnel in a session: resumes the earlier one, and when the gateway refuses that, requests a new one at the same
   * address. A session that joins others does not change the resumption: gateways may differ in the port that they show.
   * @throws {GatewayRefusal} the gateway's refusal. @throws {Error} when there is no valid response.
   */
  async send(session: GatewaySession, tunnel: BindingTunnel): Promise<Resumption> {
    while (this.#newTunnel) await this.#newTunnel;
    const resumption = this.#resumption;
    try {
      if (resumption) {
        const bound = await requestBind(session, this.#spec, resumption, true);
        return tunnel.isServed() && bound.tunnelId === resumption.tunnelId ? resumption : this.#keep(session, bound);
      }
    } catch (error) {
      const isFinal = error instanceof GatewayRefusal && !error.isTransient;
      if (!isFinal || !tunnel.isWanted() || tunnel.isServed()) throw error;
      // Another session has requested a new tunnel meanwhile.
      if (this.#newTunnel || this.#resumption !== resumption) return this.send(session, tunnel);
    }
    const request = requestBind(session, this.#spec, resumption, false).then((bound) => this.#keep(session, bound));
    this.#newTunnel = request
      .catch(() => {})
      .then(() => {
        this.#newTunnel = undefined;
      });
    return request;
  }

  #keep(session: GatewaySession, bound: Resumption): Resumption {
    if (!session.isClosed) this.#resumption = bound;
    return bound;
  }
}

/**
 * Requests one bind.
 * @param resumption of the earlier tunnel; null for none. The URL of a tunnel with labels is empty.
 * @param resumes whether to resume that tunnel, or to request a new one at its address.
 * @returns the resumption of the tunnel.
 * @throws {GatewayRefusal} the gateway's refusal. @throws {Error} when there is no valid response.
 */
async function requestBind(
  session: GatewaySession,
  spec: TunnelSpec | LabelTunnelSpec,
  resumption: Resumption | null,
  resumes: boolean,
): Promise<Resumption> {
  const resumed = {
    id: resumes ? (resumption?.tunnelId ?? '') : '',
    token: resumes ? (resumption?.bindToken ?? '') : '',
  };
  const { id, token, url } =
    'labels' in spec
      ? await session.bindLabels({ ...spec, ...resumed, forwardsProto: '' })
      : await session.bind({ ...resumed, ...bindRequest(spec, resumption) });
  return { tunnelId: id, bindToken: token, url };
}

/** The request for the address that the tunnel had before, or for the one in its spec. */
function bindRequest(spec: TunnelSpec, resumption: Resumption | null): Omit<BindRequest, 'id' | 'token'> {
  const {
    name = '',
    protocol,
    forwardsTo,
    metadata,
    policy,
    pooling = false,
    upstreamProtocol = '',
    proxyProtocol,
    upstreamTimeout,
    hostHeader,
  } = spec;
  const options = {
    ...address(spec, resumption),
    ...(policy === null ? {} : { TrafficPolicy: policy }),
    ...(upstreamTimeout === undefined ? {} : { UpstreamTimeout: upstreamTimeout }),
    ...(hostHeader === undefined ? {} : { HostHeader: hostHeader }),
    // The gateway writes the header at the start of each stream.
    ...(proxyProtocol === undefined ? {} : { ProxyProto: proxyProtocol }),
  };
  return { name, proto: protocol, forwardsTo, forwardsProto: upstreamProtocol, metadata, pooling, options };
}

function address({ protocol, domain }: TunnelSpec, resumption: Resumption | null): object {
  const url = resumption && URL.canParse(resumption.url) ? new URL(resumption.url) : undefined;
  // A domain without a port lets the gateway choose the port; the URL has the port that it chose.
  if (protocol === 'tcp') return { Addr: url?.host ?? domain ?? '' };
  return { Domain: domain ?? url?.hostname ?? '' };
}

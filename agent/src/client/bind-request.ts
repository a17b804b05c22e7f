// The bind requests of a tunnel.

import type { writeBind } from '@gateway/protocol';
import type { LabelTunnelSpec, Resumption, TunnelSpec } from '../gateway-client.ts';
import { GatewayRefusal } from './gateway-refusal.ts';
import type { GatewaySession } from './gateway-session.ts';

type BindRequest = Parameters<typeof writeBind>[0];

/** An accepted bind. */
export interface BindResult {
  id: string;
  /** Null for a tunnel with labels, which has no address to resume and gets a new id each time. */
  resumption: Resumption | null;
}

/**
 * Binds the tunnel: resumes the earlier one, and when the gateway refuses that, requests a new one at the same address.
 * @param isWanted whether the tunnel is still wanted when the first request is refused.
 * @throws {GatewayRefusal} the gateway's refusal. @throws {Error} when there is no valid response.
 */
export async function requestBind(
  session: GatewaySession,
  spec: TunnelSpec | LabelTunnelSpec,
  resumption: Resumption | null,
  isWanted: () => boolean,
): Promise<BindResult> {
  if ('labels' in spec) return { id: await session.bindLabels({ ...spec, forwardsProto: '' }), resumption: null };
  const request = async (resumes: boolean) => {
    const { id, token, url } = await session.bind(bindRequest(spec, resumption, resumes));
    return { id, resumption: { tunnelId: id, bindToken: token, url } };
  };
  try {
    return await request(true);
  } catch (error) {
    const isFinal = error instanceof GatewayRefusal && !error.isTransient;
    if (!resumption || !isFinal || !isWanted()) throw error;
    return request(false);
  }
}

/**
 * The request for the address that the tunnel had before, or for the one in its spec.
 * @param resumes whether to resume the earlier tunnel, or to request a new one at its address.
 */
function bindRequest(spec: TunnelSpec, resumption: Resumption | null, resumes: boolean): BindRequest {
  const { protocol, forwardsTo, metadata, policy } = spec;
  return {
    id: resumes ? (resumption?.tunnelId ?? '') : '',
    token: resumes ? (resumption?.bindToken ?? '') : '',
    proto: protocol,
    forwardsTo,
    metadata,
    options: { ...address(spec, resumption), ...(policy === null ? {} : { TrafficPolicy: policy }) },
  };
}

function address({ protocol, domain }: TunnelSpec, resumption: Resumption | null): object {
  const url = resumption && URL.canParse(resumption.url) ? new URL(resumption.url) : undefined;
  // A domain without a port lets the gateway choose the port; the URL has the port that it chose.
  if (protocol === 'tcp') return { Addr: url?.host ?? domain ?? '' };
  return { Domain: domain ?? url?.hostname ?? '' };
}

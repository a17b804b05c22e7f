// What the gateway is asked for, for a tunnel.

import type { writeBind } from '@gateway/protocol';
import type { LabelTunnelSpec, Resumption, TunnelSpec } from '../gateway-client.ts';
import { GatewayRefusal } from './gateway-refusal.ts';
import type { GatewaySession } from './gateway-session.ts';

type BindRequest = Parameters<typeof writeBind>[0];

/** What the gateway has agreed to serve. */
export interface BindResult {
  id: string;
  /** Null for a tunnel with labels: nobody else can take what that has, so that it is a new one each time. */
  resumption: Resumption | null;
}

/**
 * Asks to have back what the tunnel was, and where the gateway does not know it any more, for the same address anew.
 * @param isWanted whether it still is, after the first answer.
 * @throws {GatewayRefusal} in the gateway's words; {Error} when there is no answer that can be understood.
 */
export async function requestBind(
  session: GatewaySession,
  spec: TunnelSpec | LabelTunnelSpec,
  resumption: Resumption | null,
  isWanted: () => boolean,
): Promise<BindResult> {
  if ('labels' in spec) return { id: await session.bindLabels({ ...spec, forwardsProto: '' }), resumption: null };
  const ask = async (proves: boolean) => {
    const { id, token, url } = await session.bind(bindRequest(spec, resumption, proves));
    return { id, resumption: { tunnelId: id, bindToken: token, url } };
  };
  try {
    return await ask(true);
  } catch (error) {
    const isFinal = error instanceof GatewayRefusal && !error.isTransient;
    if (!resumption || !isFinal || !isWanted()) throw error;
    return ask(false);
  }
}

/**
 * The call for a tunnel: for the address that it had, where it had one, and otherwise for the one that its options name.
 * @param proves whether it is asked for as what it was, or as a new one at the same address.
 */
function bindRequest(spec: TunnelSpec, resumption: Resumption | null, proves: boolean): BindRequest {
  const { protocol, forwardsTo, metadata, policy } = spec;
  return {
    id: proves ? (resumption?.tunnelId ?? '') : '',
    token: proves ? (resumption?.bindToken ?? '') : '',
    proto: protocol,
    forwardsTo,
    metadata,
    options: { ...address(spec, resumption), ...(policy === null ? {} : { TrafficPolicy: policy }) },
  };
}

function address({ protocol, domain }: TunnelSpec, resumption: Resumption | null): object {
  const url = resumption && URL.canParse(resumption.url) ? new URL(resumption.url) : undefined;
  // A host alone leaves the port to the gateway, which has chosen one since.
  if (protocol === 'tcp') return { Addr: url?.host ?? domain ?? '' };
  return { Domain: domain ?? url?.hostname ?? '' };
}

// What the gateway is asked for, for a tunnel that is wanted.

import type { writeBind } from '@gateway/protocol';
import type { Resumption, WantedTunnel } from '../gateway-client.ts';

export type BindRequest = Parameters<typeof writeBind>[0];

/**
 * The call for a tunnel: for the address that it had, where it had one, and otherwise for the one that is wanted.
 * @param proves whether it is asked for as what it was, or as a new one at the same address.
 */
export function bindRequest(wanted: WantedTunnel, resumption: Resumption | null, proves: boolean): BindRequest {
  const { protocol, forwardsTo, metadata, policy } = wanted;
  return {
    id: proves ? (resumption?.tunnelId ?? '') : '',
    token: proves ? (resumption?.bindToken ?? '') : '',
    proto: protocol,
    forwardsTo,
    metadata,
    options: { ...address(wanted, resumption), ...(policy === null ? {} : { TrafficPolicy: policy }) },
  };
}

function address({ protocol, domain }: WantedTunnel, resumption: Resumption | null): object {
  const url = resumption && URL.canParse(resumption.url) ? new URL(resumption.url) : undefined;
  // A host alone leaves the port to the gateway, which has chosen one since.
  if (protocol === 'tcp') return { Addr: url?.host ?? domain ?? '' };
  return { Domain: domain ?? url?.hostname ?? '' };
}

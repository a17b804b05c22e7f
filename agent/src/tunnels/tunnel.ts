// One tunnel of the local API.

import { isDeepStrictEqual } from 'node:util';
import type { TunnelHandle } from '../gateway-client.ts';
import type { Log } from '../log.ts';
import { addressKey, hostOf } from './address-match.ts';
import type { TunnelRequest } from './request.ts';
import type { SavedTunnel } from './state-format.ts';

/**
 * `opening`: the first response is pending, and the creation may fail. `kept`: the state file has the tunnel. `closing`: the
 * deletion is in progress, or is not on the disk yet.
 */
export type TunnelPhase = 'opening' | 'kept' | 'closing';

/** A tunnel, its saved state and its handle in the client. */
export interface AgentTunnel {
  phase: TunnelPhase;
  saved: SavedTunnel;
  handle: TunnelHandle;
  /** Resolves when the creation has succeeded, rejects when it has failed. */
  opened: Promise<void>;
  /** The deletion in progress. */
  closed?: Promise<void> | undefined;
}

/** Saves the resumption and the URL, so that the tunnel gets the same address after a restart. */
export function rememberResumption({ handle, saved }: AgentTunnel, log: Log): void {
  saved.resume = handle.resumption ?? saved.resume;
  if (handle.url === null || handle.url === saved.url) return;
  if (saved.url !== '') {
    saved.previousUrl = saved.url;
    log('warn', 'tunnel URL changed', { id: saved.id, url: handle.url, previous_url: saved.url });
  }
  saved.url = handle.url;
}

/** Whether a tunnel is the one that a request asks for. */
export const matchesRequest = (saved: SavedTunnel, { protocol, forwardsTo, domain, policy }: TunnelRequest) =>
  saved.protocol === protocol &&
  saved.forwardsTo === forwardsTo &&
  saved.domain === domain &&
  (policy === null ? saved.policySource === 'default' : isDeepStrictEqual(policy, saved.policy));

/** The `addressKey` of a tunnel; null before the gateway has chosen the address. */
export function savedAddressKey({ protocol, domain, url }: SavedTunnel): string | null {
  const name = domain ?? (url === '' ? null : hostOf(url));
  return name === null ? null : addressKey(protocol, name);
}

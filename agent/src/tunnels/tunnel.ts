// One tunnel of the agent, from its request on.

import { isDeepStrictEqual } from 'node:util';
import type { TunnelHandle } from '../gateway-client.ts';
import type { Log } from '../log.ts';
import { claimAddress, hostOf } from './address-match.ts';
import type { TunnelRequest } from './request.ts';
import type { SavedTunnel } from './state-format.ts';

/**
 * `opening`: its first answer is awaited, and it may yet come to nothing. `kept`: made again by restarts. `closing`: it
 * was deleted, which is not done yet, or is not on the disk yet.
 */
export type TunnelPhase = 'opening' | 'kept' | 'closing';

export interface AgentTunnel {
  phase: TunnelPhase;
  saved: SavedTunnel;
  handle: TunnelHandle;
  /** Settles when it is open and kept, or nothing is left of it. */
  opened: Promise<void>;
  /** The deletion that is under way. */
  closed?: Promise<void> | undefined;
}

/** Keeps what the gateway gave, so that a restart asks for the same. */
export function rememberResumption({ handle, saved }: AgentTunnel, log: Log): void {
  saved.resume = handle.resumption ?? saved.resume;
  if (handle.url === null || handle.url === saved.url) return;
  if (saved.url !== '') {
    saved.previousUrl = saved.url;
    log('warn', 'tunnel URL changed', { id: saved.id, url: handle.url, previous_url: saved.url });
  }
  saved.url = handle.url;
}

/** Whether a tunnel is what is asked for. */
export const matchesRequest = (saved: SavedTunnel, { protocol, forwardsTo, domain, policy }: TunnelRequest) =>
  saved.protocol === protocol &&
  saved.forwardsTo === forwardsTo &&
  saved.domain === domain &&
  (policy === null ? saved.policySource === 'default' : isDeepStrictEqual(policy, saved.policy));

/** What only this tunnel can have, as `addressOf`; null while the gateway has not chosen. */
export function claimedAddress({ protocol, domain, url }: SavedTunnel): string | null {
  const name = domain ?? (url === '' ? null : hostOf(url));
  return name === null ? null : claimAddress(protocol, name);
}
